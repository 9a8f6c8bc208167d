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
  const scope = globalThis as unknown as WorkerScope
  scope.onmessage = ({ data: { id, ...request } }) => scope.postMessage({ id, issues: check(request) })
}
