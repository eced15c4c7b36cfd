"""A script that is mostly imports: the scientific stack where it is, else the standard library."""

import sys

STANDARD = (
    "argparse ast asyncio base64 bz2 calendar cmd code concurrent.futures configparser csv ctypes "
    "curses decimal difflib doctest email.mime.multipart fractions ftplib gzip hashlib html.parser "
    "http.client http.server imaplib json logging.config lzma mailbox multiprocessing.pool "
    "optparse pdb pickletools platform plistlib pprint profile pydoc sqlite3 smtplib ssl "
    "statistics tarfile tempfile tokenize trace unittest.mock urllib.request uuid venv wave "
    "xml.dom.minidom xml.etree.ElementTree xmlrpc.client zipfile zoneinfo"
)


def main():
    loaded = []
    for name in sys.argv[1:] or STANDARD.split():
        __import__(name)
        loaded.append(name)
    print(len(loaded), "loaded")


main()
