"""Rules as data: syntax, text in and out, and the checks a program must pass before it runs."""
