// The compiled signal packages ship no types. What they load is checked where it is loaded, so nothing is promised here.
declare module '@echogarden/fvad-wasm' {
  const load: () => Promise<unknown>;
  export default load;
}
declare module '@echogarden/speex-resampler-wasm/simd' {
  const load: () => Promise<unknown>;
  export default load;
}
