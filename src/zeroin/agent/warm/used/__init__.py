"""What a run used besides its code: files read, probed or listed, modules found or missed."""
