"""How it is shown: documents, figures and files made from a plan, a verdict or a diagnosis."""
