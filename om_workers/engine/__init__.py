"""Pure rules: values and decisions, standard library only; time, ids and counts come in as arguments."""
