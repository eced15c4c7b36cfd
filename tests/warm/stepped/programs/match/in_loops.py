# needs: 3.10
def run(commands):
    at = 0
    for command in commands:
        match command.split():
            case ["go", n]:
                at += int(n)
            case ["back"]:
                at = 0
                continue
            case ["skip", *_]:
                pass
            case ["stop"]:
                break
            case _:
                raise ValueError(f"what is {command!r}")
        print("at", at)
    else:
        return "all", at
    return "stopped", at


print(run(["go 3", "back", "go 4", "skip x"]))
print(run(["go 1", "stop", "go 9"]))
