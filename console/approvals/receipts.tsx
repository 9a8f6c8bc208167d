import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { listen } from '../api/attention.ts'
import type { List } from '../api/use-list.ts'
import { Button } from '../components/button.tsx'
import { ErrorBox } from '../components/page.tsx'
import { TextLink, VisibleText } from '../components/visible-text.tsx'
import { hrefHere, navigate } from '../state/location.ts'
import { useStore } from '../state/store.ts'
import { countApprovals } from './approval-count.tsx'
import { drafts } from './approval-detail.tsx'
import { keyOf } from './approvals.ts'
import { type Decided, decisions } from './decisions.ts'

/** The decisions of this page. They are sent at once when it is left, or hidden: a browser may end it then. */
export function useDecisions(update: List<ApprovalRecord>['update']): Decided[] {
  const decided = useStore(decisions.all)
  const ended = decided.filter(({ state }) => state === 'sent' || state === 'late').map(({ key }) => key)
  useEffect(() => {
    if (ended.length === 0) return
    for (const key of ended) drafts.delete(key)
    update((listed) => listed.filter((each) => !ended.includes(keyOf(each))))
    countApprovals().catch(() => undefined)
  }, [ended.join()])
  useEffect(() => {
    decisions.clear()
    const leave = () => void decisions.flush(true)
    const unlisten = listen(window, { pagehide: leave, visibilitychange: () => document.hidden && leave() })
    return () => {
      unlisten()
      leave()
    }
  }, [])
  return decided
}

/** A second click belongs to the decision before it, until nothing was pressed for this time. */
const LOCK_MS = 1_000

export function useLock(): [isLocked: boolean, lock: () => void] {
  const [presses, setPresses] = useState(0)
  useLayoutEffect(() => {
    if (presses === 0) return
    const press = (event: MouseEvent) => {
      setPresses((count) => count + 1)
      // The second of two clicks takes the focus from nothing.
      if (event.detail > 1) event.preventDefault()
    }
    const timer = setTimeout(() => setPresses(0), LOCK_MS)
    const unlisten = listen(window, { mousedown: press }, { capture: true })
    return () => {
      clearTimeout(timer)
      unlisten()
    }
  }, [presses])
  return [presses > 0, () => setPresses(1)]
}

const VERBS = { approve: 'Approved', reject: 'Rejected' }

export const Receipts = ({ decided }: { decided: Decided[] }) => (
  <ul class="plain-list stack receipts" aria-label="Your decisions">
    {decided.map(({ key, title, decision, state, error }) => (
      <li key={key}>
        {state === 'failed' || state === 'late' ? 'Not sent' : VERBS[decision]}:{' '}
        {state === 'waits' || state === 'sending' ? (
          <VisibleText text={title} />
        ) : (
          <TextLink href={hrefHere({ item: key })} text={title} />
        )}{' '}
        {state === 'waits' && (
          <Button
            class="small"
            label="Undo"
            onClick={() => decisions.undo(key) && navigate(hrefHere({ item: key }), { replace: true })}
          />
        )}
        {state === 'sending' && <span class="muted">Sending…</span>}
        {state === 'late' && 'It was decided meanwhile, or its time is over.'}
        {error && <ErrorBox error={error} />}
      </li>
    ))}
  </ul>
)
