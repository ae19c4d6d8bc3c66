/* Runs in the page before its own scripts. It measures sound and pictures for the tests. */
globalThis.probes = {
  /** Returns the videos whose picture has changed since the last call. */
  moving() {
    const videos = [...document.querySelectorAll('video')].filter(({ videoWidth }) => videoWidth > 0);
    const moved = videos.filter((video) => {
      const frames = video.getVideoPlaybackQuality().totalVideoFrames;
      const before = Number(video.dataset.frames ?? frames);
      video.dataset.frames = String(frames);
      return frames > before;
    });
    return moved.length;
  },

  /** Resolves to the loudest level, from 0 to 1, of the other participants' sound within a second. */
  async loudness() {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    for (const { srcObject } of document.querySelectorAll('audio')) {
      if (srcObject !== null) context.createMediaStreamSource(srcObject).connect(analyser);
    }
    let loudest = 0;
    const samples = new Float32Array(analyser.fftSize);
    for (let frame = 0; frame < 60; frame += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      analyser.getFloatTimeDomainData(samples);
      loudest = Math.max(loudest, ...samples.map(Math.abs));
    }
    await context.close();
    return loudest;
  },
};
