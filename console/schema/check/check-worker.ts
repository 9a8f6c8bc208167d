import { setPatternEngine } from '../../../lib/schema/patterns/compile-pattern.ts'
import { type CheckRequest, check } from './check-request.ts'
import type { Issue } from './check-text.ts'

export type CheckMessage = CheckRequest & { id: number }
export type CheckReply = { id: number; issues: Issue[] }

type WorkerScope = {
  onmessage: ((event: { data: CheckMessage }) => void) | null
  postMessage: (reply: CheckReply) => void
}

/** Answers the checks of a page, so that a large text does not block it. */
export function serveChecks(): void {
  setPatternEngine(compileNative)
  const scope = globalThis as unknown as WorkerScope
  scope.onmessage = ({ data: { id, ...request } }) => scope.postMessage({ id, issues: check(request) })
}

/**
 * The browser's own engine instead of RE2, which is larger than the rest of the console. The page stops a worker that takes
 * too long.
 */
function compileNative(pattern: string) {
  const expression = new RegExp(pattern, 'u')
  return (text: string) => expression.test(text)
}
