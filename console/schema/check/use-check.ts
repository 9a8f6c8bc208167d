import { useEffect, useState } from 'preact/hooks'
import type { CheckRequest } from './check-request.ts'
import type { Issue } from './check-text.ts'
import { runCheck } from './run-check.ts'

/** The issues of a text; of an earlier one while `isPending`. `error`: why it could not be checked. */
export type Check = { issues: Issue[]; isPending: boolean; error: string | null }

/** Somebody who types reads no errors yet. */
const PAUSE_MS = 250

/** Checks a text when it has not changed for a moment. `null`: nothing to check. */
export function useCheck(request: CheckRequest | null): Check {
  const [last, setLast] = useState<{ of: string | null; issues: Issue[]; error: string | null }>({
    of: null,
    issues: [],
    error: null,
  })
  const { text, schema, mode } = request ?? { text: null, schema: null, mode: null }
  useEffect(() => {
    if (text === null) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      runCheck({ text, schema, mode }, controller.signal).then(
        (issues) => setLast({ of: text, issues, error: null }),
        (error: unknown) => {
          if (!controller.signal.aborted) setLast({ of: text, issues: [], error: String(error) })
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text, schema, mode])
  if (text === null) return { issues: [], isPending: false, error: null }
  return { issues: last.issues, error: last.error, isPending: last.of !== text }
}
