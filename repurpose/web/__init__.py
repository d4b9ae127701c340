"""The page where an editor watches, corrects and takes the texts, and the same for programs.

What is always true here: the page shows what is stored and asks for work; it decides nothing that
the command line could not. Whoever asks from another site, or without the token where one is set,
is refused before anything else is looked at. Texts of sources and models leave as JSON, or through
a template that escapes them.
"""
