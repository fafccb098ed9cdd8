# The image of the Parley server. The base is pinned by its digest, which you give, because only you can look up the newest:
#
#   docker buildx imagetools inspect node:24-bookworm-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE_DIGEST=sha256:… --tag parley .
#
# Runs as a user without rights on a read-only root file system. Two folders are written: /parley/cache/prompts has the spoken
# prompts, and /parley/data the sealed store of the administration, which must outlive the container. The settings
# synthesizer.cache_folder and admin.store.file point there unless you set them. With a configuration like
# config/example.production.yaml, whose calls may take longer to end than the ten seconds that an engine gives unasked:
#
#   docker run --stop-timeout 30 --read-only --cap-drop ALL --security-opt no-new-privileges --publish 8443:8443 \
#     --publish 8089:8089 --volume parley-data:/parley/data \
#     --volume /etc/parley:/etc/parley:ro --volume /run/secrets/parley:/run/secrets/parley:ro \
#     --volume parley-prompts:/parley/cache/prompts --env PARLEY_CONFIG=/etc/parley/parley.yaml parley
#
# test/system/dockerfile.test.ts runs these very steps without a container engine. So that it can, RUN uses no absolute path.
ARG NODE_IMAGE=node:24-bookworm-slim
# No default on purpose: without a digest the build stops here.
ARG NODE_DIGEST

FROM ${NODE_IMAGE}@${NODE_DIGEST} AS build
WORKDIR /parley
# The packages first: this layer is kept as long as the lockfile does not change.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/console.mjs scripts/with-packages.mjs scripts/
COPY src src
COPY console console
COPY bots bots
RUN npm run build
# What calls a server as the platform does has no place beside the server.
RUN rm -r dist/src/fake-platform
RUN npm prune --omit=dev --no-audit --no-fund
# The folders that the server may write to; they are made here because the last stage runs nothing.
RUN mkdir prompts-cache data

FROM ${NODE_IMAGE}@${NODE_DIGEST}
LABEL org.opencontainers.image.title="Parley" \
      org.opencontainers.image.description="The server behind a contact-center platform's voice virtual agents" \
      org.opencontainers.image.licenses="Apache-2.0"
# No setting of Parley here: a variable would win over the operator's file.
ENV NODE_ENV=production
WORKDIR /parley
COPY LICENSE package.json ./
COPY proto proto
COPY config config
COPY bots/prompts bots/prompts
COPY --from=build /parley/node_modules node_modules
COPY --from=build /parley/dist dist
COPY --from=build --chown=1000:1000 /parley/prompts-cache cache/prompts
COPY --from=build --chown=1000:1000 /parley/data data
VOLUME /parley/cache/prompts
VOLUME /parley/data
# The user "node" of the base image, by number so that a cluster can see that it is not root.
USER 1000:1000
EXPOSE 8086 8087 8088 8089 8443
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["node", "dist/src/cli/main.js", "health"]
# The flags of src/app/workers/node-flags.ts.
CMD ["node", "--single-threaded-gc", "--heap-growing-percent=200", "dist/src/cli/main.js", "serve"]
