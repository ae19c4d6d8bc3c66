# Two images of one source: `service` (also `rtc` itself), and `worker`, which adds ffmpeg, the native speech packages
# and a model.

FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts

FROM node:24-bookworm-slim AS service
# Within a container the outside decides who reaches it.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
# Everything the service runs on is bundled in dist.
COPY --from=build /app/package.json /app/NOTICE ./
COPY --from=build /app/bin bin
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
ENTRYPOINT ["node", "bin/rtc.js"]
CMD ["serve"]

FROM node:24-bookworm AS model
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
CMD ["worker", "stt-post"]
