/** Rules for the bundled code of an agent, wherever it was bundled. */

/** A cold function loads a bundle of this size in well under a second. */
const MAX_CODE_BYTES = 3_000_000

export const NO_DEFAULT_EXPORT = 'must default-export a function run(input, context)'

const SOURCE_MAP = '//# sourceMappingURL=data:application/json;base64,'

/** @param map a source map in base64 */
export const toSourceMapComment = (map: string): string => `${SOURCE_MAP}${map}\n`

/** Without its source map, which is not loaded with it. */
function withoutSourceMap(code: string): string {
  const start = code.lastIndexOf(`\n${SOURCE_MAP}`)
  return start === -1 ? code : code.slice(0, start + 1)
}

/** A problem with the size of the code; null if there is none. The source map does not count. */
export function findSizeProblem(code: string): string | null {
  const bytes = Buffer.byteLength(withoutSourceMap(code))
  return bytes > MAX_CODE_BYTES ? `the bundle has ${bytes} bytes; the limit is ${MAX_CODE_BYTES}` : null
}
