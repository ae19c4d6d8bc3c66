/* Runs in the page before its own scripts. The camera shows a drawn person who moves, instead of Chromium's test picture. */
{
  const LOOKS = {
    ada: { wall: ['#3d5a80', '#1f3350'], skin: '#f0c8a0', hair: '#3b2417', long: true, top: '#8d3b72' },
    grace: {
      wall: ['#6b705c', '#3b3f32'],
      skin: '#e8b796',
      hair: '#8c8c91',
      long: true,
      top: '#22333b',
      glasses: true,
    },
    alan: { wall: ['#7f5539', '#45301f'], skin: '#f3d0b0', hair: '#4a3222', long: false, top: '#3a506b' },
    katherine: {
      wall: ['#335c67', '#15303a'],
      skin: '#8d5a3a',
      hair: '#17120f',
      long: true,
      top: '#e09f3e',
      glasses: true,
    },
  };
  const [WIDTH, HEIGHT] = [640, 360];

  const disc = (pen, x, y, [width, height]) => {
    pen.beginPath();
    pen.ellipse(x, y, width, height, 0, 0, 2 * Math.PI);
    pen.fill();
  };

  const draw = (pen, { wall, skin, hair, long, top, glasses }, seconds) => {
    const shade = pen.createLinearGradient(0, 0, WIDTH, HEIGHT);
    for (const [index, colour] of wall.entries()) shade.addColorStop(index, colour);
    pen.fillStyle = shade;
    pen.fillRect(0, 0, WIDTH, HEIGHT);
    pen.fillStyle = 'rgb(255 255 255 / 0.12)';
    pen.fillRect(60, 40, 120, 160);
    pen.fillRect(470, 250, 140, 110);
    const x = 320 + 7 * Math.sin(seconds * 0.9);
    const y = 160 + 4 * Math.sin(seconds * 1.7);
    pen.fillStyle = hair;
    disc(pen, x, y - 14, [74, 84]);
    if (long) disc(pen, x, y + 40, [84, 96]);
    pen.fillStyle = top;
    disc(pen, x, 372, [150, 108]);
    pen.fillStyle = skin;
    pen.fillRect(x - 24, y + 55, 48, 60);
    disc(pen, x, y, [60, 76]);
    pen.fillStyle = hair;
    pen.beginPath();
    pen.ellipse(x, y - 34, 62, 46, 0, Math.PI, 2 * Math.PI);
    pen.fill();
    const isBlinking = seconds % 4 < 0.15;
    for (const side of [-1, 1]) {
      pen.fillStyle = '#fff';
      disc(pen, x + side * 24, y + 2, [11, isBlinking ? 1 : 8]);
      pen.fillStyle = '#20242c';
      disc(pen, x + side * 24 + 2 * Math.sin(seconds), y + 2, [5, isBlinking ? 1 : 5]);
      if (!glasses) continue;
      pen.strokeStyle = '#20242c';
      pen.lineWidth = 3;
      pen.beginPath();
      pen.ellipse(x + side * 24, y + 2, 18, 15, 0, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.fillStyle = '#7c2d2d';
    pen.beginPath();
    pen.ellipse(x, y + 36, 20, 7 + 5 * Math.abs(Math.sin(seconds * 5)), 0, 0, Math.PI);
    pen.fill();
  };

  const film = (look) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: WIDTH, height: HEIGHT });
    const pen = canvas.getContext('2d');
    const next = () => draw(pen, look, performance.now() / 1000);
    next();
    setInterval(next, 50);
    return canvas.captureStream(20).getVideoTracks();
  };

  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await open(wanted);
    const look = LOOKS[globalThis.avatar];
    if (look === undefined || stream.getVideoTracks().length === 0) return stream;
    for (const track of stream.getVideoTracks()) track.stop();
    return new MediaStream([...stream.getAudioTracks(), ...film(look)]);
  };

  // The devices have the names that those of a laptop have, instead of those of Chromium's test devices.
  const NAMES = {
    audioinput: 'Built-in microphone',
    audiooutput: 'Built-in speakers',
    videoinput: 'Built-in camera',
  };
  const list = navigator.mediaDevices.enumerateDevices.bind(navigator.mediaDevices);
  navigator.mediaDevices.enumerateDevices = async () => {
    const devices = (await list()).filter(({ deviceId }) => deviceId !== 'communications');
    const kinds = new Map();
    return devices.flatMap(({ deviceId, groupId, kind, label }) => {
      const count = kinds.get(kind) ?? 0;
      kinds.set(kind, count + 1);
      const name = label === '' ? '' : NAMES[kind];
      return count === 0 ? [{ deviceId, groupId, kind, label: name, toJSON: () => ({}) }] : [];
    });
  };
}
