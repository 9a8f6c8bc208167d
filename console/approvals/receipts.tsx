import { useEffect } from 'preact/hooks'
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
