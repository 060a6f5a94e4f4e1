"""What does a newcomer see first? A rich hand-written conversation, `conversation.ndjson`, that demo and CI post."""
