"""Samples of processes, disks, GPUs and the machine: numbers as they are at one moment."""
