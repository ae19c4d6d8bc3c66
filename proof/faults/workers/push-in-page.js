/**
 * Runs in a page of a browser. Pushes its camera and microphone by WHIP, again and again, until `endPush` is called. Resolves after
 * that.
 */
globalThis.pushByWhip = async ({ url, streamKey }) => {
  const headers = { authorization: `Bearer ${streamKey}` };
  const media = await navigator.mediaDevices.getUserMedia({
    audio: true,
    video: { width: 320, height: 180 },
  });
  const end = Promise.withResolvers();
  let isEnded = false;
  globalThis.endPush = () => {
    isEnded = true;
    end.resolve();
  };
  while (!isEnded) {
    await push().catch((error) => console.log(String(error)));
    const pause = new Promise((resolve) => setTimeout(resolve, 1_000));
    await Promise.race([pause, end.promise]);
  }

  async function push() {
    const connection = new RTCPeerConnection();
    for (const track of media.getTracks()) connection.addTrack(track, media);
    const broken = Promise.withResolvers();
    connection.addEventListener('connectionstatechange', () => {
      if (['disconnected', 'failed'].includes(connection.connectionState)) broken.resolve();
    });
    try {
      const resource = await connect(connection);
      await Promise.race([broken.promise, end.promise]);
      if (isEnded) await fetch(resource, { method: 'DELETE', headers });
    } finally {
      connection.close();
    }
  }

  async function connect(connection) {
    const gathered = Promise.withResolvers();
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') gathered.resolve();
    });
    await connection.setLocalDescription();
    await gathered.promise;
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/sdp' },
      body: connection.localDescription.sdp,
    });
    if (response.status !== 201) throw new Error(`the ingress service responded with ${response.status}`);
    await connection.setRemoteDescription({ type: 'answer', sdp: await response.text() });
    return new URL(response.headers.get('location'), url).href;
  }
};
