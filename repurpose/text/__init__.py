"""What can be said about a text without a model: its language, sentences, length, and fence."""
