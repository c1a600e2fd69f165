"""One file a foreign format that describes a job: Megatron-LM arguments, Hugging Face config.json, and others."""
