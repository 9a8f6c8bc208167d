import { isBuiltin } from 'node:module'
import { parse } from 'acorn'

/** A cold function loads a bundle of this size in well under a second. */
const MAX_CODE_BYTES = 3_000_000

export const NO_DEFAULT_EXPORT = 'must default-export a function run(input, context)'

const SOURCE_MAP = '//# sourceMappingURL=data:application/json;base64,'

/** @param map a source map in base64 */
export const toSourceMapComment = (map: string): string => `${SOURCE_MAP}${map}\n`

/** A problem with the size of the code; null if there is none. The source map, which is not loaded, does not count. */
export function findSizeProblem(code: string): string | null {
  const mapStart = code.lastIndexOf(`\n${SOURCE_MAP}`)
  const bytes = Buffer.byteLength(mapStart === -1 ? code : code.slice(0, mapStart + 1))
  return bytes > MAX_CODE_BYTES ? `the bundle has ${bytes} bytes; the limit is ${MAX_CODE_BYTES}` : null
}

/** `line` in the code, from 1. The message continues a sentence that begins with "code". */
type CodeTextProblem = { line: number; message: string }

/** Checks code that was bundled elsewhere, without running it: an ES module that imports only built-in modules. */
export function checkCode(code: string): CodeTextProblem[] {
  const size = findSizeProblem(code)
  if (size) return [{ line: 1, message: size }]
  try {
    return findProblems(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const { loc } = error as SyntaxError & { loc?: { line: number } }
    const message = `must be JavaScript, bundled into an ES module: ${error.message}`
    return [{ line: loc?.line ?? 1, message }]
  }
}

function findProblems({ body }: ReturnType<typeof parse>): CodeTextProblem[] {
  const problems: CodeTextProblem[] = []
  let hasDefault = false
  for (const statement of body) {
    const { type, loc } = statement
    if (type === 'ExportDefaultDeclaration') hasDefault = true
    if (type === 'ExportNamedDeclaration')
      hasDefault ||= statement.specifiers.some(({ exported }) => nameOf(exported) === 'default')
    const source = 'source' in statement ? statement.source?.value : undefined
    if (typeof source === 'string' && !isBuiltin(source)) {
      const message = `imports "${source.slice(0, 200)}", which must be bundled into it`
      problems.push({ line: loc?.start.line ?? 1, message })
    }
  }
  return hasDefault ? problems : [...problems, { line: 1, message: NO_DEFAULT_EXPORT }]
}

const nameOf = (node: { type: string; name?: string; value?: unknown }) =>
  node.type === 'Identifier' ? node.name : node.value
