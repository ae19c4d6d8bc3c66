"""The model's own runner on a WAV file: what it heard, and how long it took, loading left out, as a line of JSON."""

import json
import sys
import time

from moonshine_voice.moonshine_api import ModelArch
from moonshine_voice.transcriber import Transcriber
from moonshine_voice.utils import load_wav_file

model, path = sys.argv[1:]
transcriber = Transcriber(model_path=model, model_arch=ModelArch.TINY)
audio, rate = load_wav_file(path)
started = time.perf_counter()
transcript = transcriber.transcribe_without_streaming(audio, rate)
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "text": " ".join(line.text for line in transcript.lines)}))
