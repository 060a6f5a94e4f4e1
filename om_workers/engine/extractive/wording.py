"""What a sentence is, told by its wording: a decision, a preference, a correction, a question, small talk.

The cues are English; a sentence in another language has no cue and is judged by its names, figures and place alone.
"""

from __future__ import annotations

import re


def _cue(alternatives: str) -> re.Pattern[str]:
    """Finds any of the alternatives, separated by semicolons, as whole words; a straight apostrophe stands for both."""
    choices = "|".join(" ".join(choice.split()) for choice in alternatives.split(";"))
    return re.compile(rf"\b(?:{choices})\b".replace("'", "['’]"), re.IGNORECASE)


_VERBS = (
    "booked|reserved|confirmed|scheduled|sent|paid|transferred|purchased|created|added|updated|deleted|removed|"
    "cancell?ed|completed|saved|merged|deployed|fixed|finished|committed|pushed|installed|implemented|migrated|ordered"
)
CORRECTION = _cue(
    """actually; instead; i meant; not anymore; no longer; wrong; correction; rather than; change (?:it|that|the|my);
    no,? (?:it|i|that|the|make|not)(?:'s| is)?; scratch that; on second thought; never ?mind; cancel(?:led|ed)?;
    undo; revert"""
)
DECISION = _cue(
    """let(?:'s| us); (?:i|we)(?:'ll| will) (?:take|go|use|do|have|keep); decided?; go ahead; go with; agreed;
    approved?; remember; don't forget; make sure; from now on; always; never; must(?:n't| not)?; deadline;
    settled on; we chose"""
)
PREFERENCE = _cue(
    """prefer(?:s|red|ably)?; favou?rites?; allergic; can(?:'t|not) (?:eat|stand|use);
    (?:i|we) (?:really |don't )?(?:like|love|hate|enjoy|need|want|dislike|avoid);
    (?:i|we)(?:'d| would) (?:like|love|rather|prefer)"""
)
IDENTITY = _cue(
    r"""my [\w'-]{1,30}(?: [\w'-]{1,30}){0,3} (?:is|are|was|will be); i(?:'m| am); call me; my name;
    (?:i|we) (?:live|work|study|moved|own|use|run|have); i've (?:been|got)"""
)
DONE = _cue(
    f"""(?:has|have|had|is|are|was|were|been|successfully|all|now) (?:been |now |successfully |all ){0, 3}
    (?:{_VERBS}|made|set|complete|done);
    (?:i|we)(?:'ve| have)? ?(?:just |now |successfully ){0, 3}(?:{_VERBS}); it worked; works now; tests pass(?:ed)?"""
)
FAILURE = _cue(
    """fail(?:ed|s|ure)?; errors?; exception; unsuccessful(?:ly)?; unable to; could(?:n't| not); can(?:not|'t) be;
    denied; not found; not available; unavailable; invalid; timed out; time-?out; refused; traceback;
    didn't (?:go through|work)"""
)
CLOSING = _cue(
    """anything (?:else|more); (?:help|assist)(?: you)? (?:with|you); further (?:help|assistance); something else;
    any other (?:help|assistance)"""
)
ACCEPTED = _cue(
    """accepted; approved; booked; cancell?ed; completed?; confirmed; created; delivered; granted; paid; sent;
    success(?:ful)?"""
)
ACTING = frozenset(
    """accept add approve assign book buy cancel close commit create delete deploy edit install make merge move order
    pay place post publish push register remove rename reserve save schedule send set submit transfer update upload
    write""".split()
)
READING = frozenset(
    "browse check count describe fetch find get grep inspect list look query read search show view".split()
)
_AGREES = _cue(
    """yes; yeah; yep; yup; sure; correct; right; exactly; of course; absolutely; please do; go ahead; no; nope;
    not really; oui; non; ja; nein; si; sí"""
)
_SMALL = frozenset(
    """a absolutely again all alright amazing and appreciate assistance awesome be been bye care cheers cool day did do
    enjoy evening everything excellent fine for fun glad good goodbye great happy have hello help helpful here hey hi
    how i i'm is it it's job just kind later lot lots lovely me moment most much my need needed nice night no nope not
    nothing now of oh ok okay one perfect please pleasure really rest right safe see so sounds super sure take thank
    thanks that that'll that's the then there this time to today too trip very was welcome well with wonderful works
    would yeah yep yes you you're you've your""".split()
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
CUE_WORTH = ((CORRECTION, 7.0), (DECISION, 7.0), (PREFERENCE, 2.0), (IDENTITY, 2.0))


def is_small_talk(sentence: str) -> bool:
    """Whether a sentence of at most twelve words holds nothing but thanks, greetings and agreement."""
    words = _WORD.findall(sentence[:101].casefold().replace("’", "'"))
    return len(sentence) <= 100 and 0 < len(words) <= 12 and all(word in _SMALL for word in words)


def is_question(sentence: str) -> bool:
    """Whether the sentence ends as a question, in Latin, Arabic or full-width script."""
    return sentence.rstrip("\"'”’) ").endswith(("?", "？", "؟"))


def is_closing(sentence: str) -> bool:
    """Whether the sentence only offers more help."""
    return CLOSING.search(sentence) is not None


def is_plain_answer(sentence: str) -> bool:
    """Whether the sentence begins with a bare yes or no."""
    return _AGREES.match(sentence) is not None


def cue_worth(sentence: str) -> float:
    """What the cues of a user's sentence are worth: corrections and decisions most, then preferences and identity."""
    worth = 0.0
    for cue, value in CUE_WORTH:
        if cue.search(sentence):
            worth = max(worth, value) + 0.2
    return worth
