"""One file a cause: symptoms for and against, its score, the next command and the fix."""
