import '../schema/schema.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalRecord, DecisionRecord } from '../../lib/contract/records/approval.ts'
import { ApiError } from '../api/api-error.ts'
import { requestJson } from '../api/request.ts'
import { Button } from '../components/button.tsx'
import { announce } from '../components/copy-button.tsx'
import { Facts } from '../components/data.tsx'
import { useAction } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { formatSeconds } from '../components/format.ts'
import { printJson } from '../components/json-tree.ts'
import { ErrorBox } from '../components/page.tsx'
import { AgentLink, RunLink, Time, useNow, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { useMe } from '../state/session.ts'
import { InputEditor, schemaOf } from './approval-input.tsx'
import { keyOf, timeLeft } from './approvals.ts'
import { PastApproval } from './past-approval.tsx'

const MAX_NOTE = 2_000

/** What was typed, so that it is still there after a look at the run. By the key of the approval. */
const drafts = new Map<string, Draft>()
/** `text`: the edited input; null while it is as it was asked. */
type Draft = { text: string | null; note: string }

type Props = { approval: ApprovalRecord; isFocused: boolean; onDecided: () => void }

/** What is asked, by whom and until when, and the decision on it. */
export function ApprovalDetail({ approval, isFocused, onDecided }: Props) {
  const key = keyOf(approval)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isFocused) heading.current?.focus()
  }, [isFocused])
  const [draft, setDraft] = useState<Draft>(drafts.get(key) ?? { text: null, note: '' })
  const [isPast, setIsPast] = useState(false)
  function change(part: Partial<Draft>) {
    const next = { ...draft, ...part }
    drafts.set(key, next)
    setDraft(next)
  }
  const { text } = draft
  const check = useCheck(
    text !== null && isEditable(text) ? { text, schema: schemaOf(approval), mode: 'adapting' } : null,
  )
  if (isPast) return <PastApproval itemKey={key} title={approval.title} />
  return (
    <section class="card stack approval" aria-labelledby="approval-title">
      <h2 id="approval-title" ref={heading} tabIndex={-1}>
        <VisibleText text={approval.title} />
      </h2>
      <Facts
        facts={{
          Agent: <AgentLink agentId={approval.documentId} />,
          Version: <VersionLink agent={approval.documentId} versionId={approval.versionId} />,
          Asks: (
            <>
              <VisibleText text={approval.name} class="mono" />, step {approval.step}
            </>
          ),
          Run: <RunLink executionId={approval.executionId} />,
          Tenant: approval.tenantId,
          Since: <Time value={approval.since} />,
          Until: <TimeLeft until={approval.until} />,
        }}
      />
      <InputEditor
        key={key}
        {...{ approval, text, check }}
        mayEdit={approval.mayDecide}
        onText={(text) => change({ text })}
      />
      {approval.mayDecide ? (
        <Decision
          {...{ approval, draft }}
          hasMistakes={text !== null && (check.isPending || check.issues.length > 0)}
          onNote={(note) => change({ note })}
          onPast={() => setIsPast(true)}
          onDecided={() => {
            drafts.delete(key)
            onDecided()
          }}
        />
      ) : (
        <Refusal />
      )}
    </section>
  )
}

function TimeLeft({ until }: { until: string }) {
  const left = timeLeft(until, useNow())
  return (
    <>
      <Time value={until} />{' '}
      <span class={left < 3_600_000 ? 'approval-urgent' : 'muted'}>
        {left === 0 ? '(time is over)' : `(${formatSeconds(left)} left)`}
      </span>
    </>
  )
}

/** Why this token cannot decide. */
function Refusal() {
  const hasScope = useMe()?.scopes.includes('approve') ?? false
  return (
    <p class="warning-note" role="note">
      {hasScope
        ? 'Your token started this run, and the tool lets nobody decide on their own runs. Ask somebody else with the scope approve.'
        : 'Deciding needs a token with the scope approve, which no other scope includes. Yours shows what is asked.'}
    </p>
  )
}

type DecisionProps = {
  approval: ApprovalRecord
  draft: Draft
  /** Of the edited input, or it is not checked yet. */
  hasMistakes: boolean
  onNote: (note: string) => void
  /** Somebody else has decided, or it is too late. */
  onPast: () => void
  onDecided: () => void
}

function Decision({ approval, draft, hasMistakes, onNote, onPast, onDecided }: DecisionProps) {
  const { text, note } = draft
  const isChanged = text !== null && text.trim() !== printJson(approval.input).trim()

  async function decide(decision: 'approve' | 'reject') {
    const path = `/v1/agent_executions/${encodeURIComponent(approval.executionId)}/approvals/${encodeURIComponent(approval.id)}`
    // The edited input goes as it was typed, so that no number changes.
    const input = decision === 'approve' && isChanged ? `,"input":${text}` : ''
    const added = note.trim() === '' ? '' : `,"note":${JSON.stringify(note)}`
    const body = `{"decision":"${decision}"${input}${added}}`
    try {
      await requestJson<DecisionRecord>(path, { method: 'POST', body })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isLate =
        ['ApprovalDecided', 'ExecutionEnded', 'ExecutionNotFound', 'ApprovalNotFound'].includes(error.code) &&
        (error.status === 409 || error.status === 404)
      if (!isLate) throw error
      announce('It was decided meanwhile.')
      onPast()
      return
    }
    announce(decision === 'approve' ? 'Approved. The run goes on.' : 'Rejected. The run goes on.')
    onDecided()
  }
  const approve = useAction(() => decide('approve'))
  const reject = useAction(() => decide('reject'))
  const isRunning = approve.isRunning || reject.isRunning
  const error = approve.error ?? reject.error
  return (
    <div class="form">
      <TextField
        label="Note"
        help="The agent gets it with your decision."
        value={note}
        onChange={onNote}
        maxLength={MAX_NOTE}
        isLong
        spellcheck
      />
      <p class="muted">
        The run continues at once. A decision cannot be taken back; the first one counts.
        {isChanged && ' The agent is told that the input was changed.'}
      </p>
      {error && !isRunning && <ErrorBox error={error} />}
      <div class="actions">
        <Button label="Reject" class="danger" disabled={isRunning} onClick={reject.start} />
        <Button
          label={isChanged ? 'Approve with changes' : 'Approve'}
          class="primary"
          disabled={isRunning || hasMistakes}
          onClick={approve.start}
        />
      </div>
    </div>
  )
}
