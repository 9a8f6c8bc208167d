import { isBuiltin } from 'node:module'
import { parse } from 'acorn'
import { findSizeProblem, NO_DEFAULT_EXPORT } from './code-rules.ts'

/** `line` in the code, from 1. The message continues a sentence that begins with "code". */
export type CodeTextProblem = { line: number; message: string }

/** Checks code that was bundled elsewhere, without running it: an ES module that imports nothing but built-in modules. */
export function checkCode(code: string): CodeTextProblem[] {
  const size = findSizeProblem(code)
  if (size) return [{ line: 1, message: size }]
  try {
    return findProblems(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const { loc } = error as SyntaxError & { loc?: { line: number } }
    return [
      { line: loc?.line ?? 1, message: `must be JavaScript, bundled into an ES module: ${error.message}` },
    ]
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
