"""The pages: the same nouns as the command line, in a browser."""
