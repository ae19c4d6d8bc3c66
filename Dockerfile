# Two images of one source: `service` (also `rtc` itself), and `worker`, which adds ffmpeg, the native speech packages
# and a model.

FROM node:24.21.0-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts

FROM node:24.21.0-bookworm-slim AS service
# Within a container the outside decides who reaches it.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
ARG VERSION=0.0.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="rtc-service" \
      org.opencontainers.image.description="Rooms, recordings, transcription and webhooks in front of LiveKit" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
# Everything the service runs on is bundled in dist, with the licences of what is bundled.
COPY --from=build /app/package.json /app/LICENSE /app/NOTICE ./
COPY --from=build /app/bin bin
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
# That the process responds; GET /ready also asks what it depends on.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 3000}/v1/health`).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/rtc.js"]
CMD ["serve"]

FROM node:24.21.0-bookworm AS model
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app /app
ENV XDG_CACHE_HOME=/models
RUN node bin/rtc.js stt install moonshine-tiny-en

FROM build AS native
RUN node scripts/copy-packages.ts /native/node_modules @livekit/rtc-node sherpa-onnx-node

FROM service AS worker
USER root
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg ca-certificates bzip2 && rm -rf /var/lib/apt/lists/*
# The native packages are what the bundle leaves out, in the versions of the lock file.
COPY --from=native /native/node_modules node_modules
COPY --from=model /models /models
# With two arenas, glibc returns the memory of calls that have ended; with its default of eight per core it keeps it.
ENV XDG_CACHE_HOME=/models MALLOC_ARENA_MAX=2
USER node
HEALTHCHECK NONE
CMD ["worker", "stt-post"]
