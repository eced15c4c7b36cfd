"""Import much of the standard library; prints the seconds it took."""

import time

clock, cpu = time.perf_counter(), time.process_time()
import argparse  # noqa: E402, F401
import asyncio  # noqa: E402, F401
import concurrent.futures  # noqa: E402, F401
import csv  # noqa: E402, F401
import decimal  # noqa: E402, F401
import email.mime.multipart  # noqa: E402, F401
import http.client  # noqa: E402
import http.server  # noqa: E402, F401
import json  # noqa: E402, F401
import logging.config  # noqa: E402, F401
import multiprocessing.pool  # noqa: E402, F401
import sqlite3  # noqa: E402, F401
import statistics  # noqa: E402, F401
import tarfile  # noqa: E402, F401
import unittest.mock  # noqa: E402, F401
import urllib.request  # noqa: E402, F401
import xml.etree.ElementTree as ET  # noqa: E402, F401
import zipfile  # noqa: E402, F401

print(time.perf_counter() - clock, time.process_time() - cpu)
