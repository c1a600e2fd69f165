"""The command line: one file a verb; a verb imports its body only when it runs."""
