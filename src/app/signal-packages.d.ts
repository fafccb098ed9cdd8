// The WASM packages have no types. Their exports are checked when they are loaded.
declare module '@echogarden/fvad-wasm' {
  const load: () => Promise<unknown>;
  export default load;
}
declare module '@echogarden/speex-resampler-wasm/simd' {
  const load: () => Promise<unknown>;
  export default load;
}
