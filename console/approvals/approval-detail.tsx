import '../schema/schema.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import { announce, Button } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { formatSeconds } from '../components/format.ts'
import { printJson } from '../components/json-tree.ts'
import { Facts } from '../components/page.tsx'
import { AgentLink, RunLink, Time, useNow, VersionLink } from '../components/values.tsx'
import { say, TextLink, VisibleText } from '../components/visible-text.tsx'
import { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { hrefHere } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { InputEditor, Reasons, schemaOf } from './approval-input.tsx'
import { describeOutcome, keyOf, shownValues, timeLeft } from './approvals.ts'
import { decisions, toSend, UNDO_MS } from './decisions.ts'

const MAX_NOTE = 2_000

/** What was typed, so that it is still there after a look at the run. By the key of the approval. */
export const drafts = new Map<string, Draft>()
/** `text`: the edited input; null while it is as it was asked. */
type Draft = { text: string | null; note: string }

type Props = {
  approval: ApprovalRecord
  /** Others that are about the same: open, or decided. */
  same: ApprovalRecord[]
  isFocused: boolean
  /** A click would belong to the decision before. */
  isLocked: boolean
  onDecided: () => void
}

export function ApprovalDetail({ approval, same, isFocused, isLocked, onDecided }: Props) {
  const key = keyOf(approval)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isFocused) heading.current?.focus()
  }, [isFocused])
  const [draft, setDraft] = useState<Draft>(drafts.get(key) ?? { text: null, note: '' })
  function change(part: Partial<Draft>) {
    const next = { ...draft, ...part }
    drafts.set(key, next)
    setDraft(next)
  }
  const { text } = draft
  const check = useCheck(
    text !== null && isEditable(text) ? { text, schema: schemaOf(approval), mode: 'adapting' } : null,
  )
  return (
    <section class="card stack approval" aria-labelledby="approval-title">
      <h2 id="approval-title" ref={heading} tabIndex={-1}>
        <VisibleText text={approval.title} />
      </h2>
      <Facts
        facts={{
          ...shownValues(approval),
          Until: say`${<Time value={approval.until} />} (${<TimeLeft until={approval.until} />})`,
        }}
        class="approval-values"
      />
      {/* Nothing that loads is above the buttons: they stay where they are. */}
      {approval.mayDecide ? (
        <Decision
          {...{ approval, draft, isLocked, onDecided }}
          hasMistakes={text !== null && (check.isPending || check.issues.length > 0)}
          onNote={(note) => change({ note })}
        />
      ) : (
        <Refusal />
      )}
      {same.map((each) => (
        <SameHint key={keyOf(each)} approval={each} />
      ))}
      <div class="grid">
        <InputEditor
          key={key}
          {...{ approval, text, check }}
          mayEdit={approval.mayDecide}
          onText={(text) => change({ text })}
        />
        <Reasons approval={approval} />
      </div>
      <Facts
        facts={{
          Agent: <AgentLink agentId={approval.documentId} />,
          Version: <VersionLink agent={approval.documentId} versionId={approval.versionId} />,
          Asks: say`${<VisibleText text={approval.name} class="mono" />}, step ${approval.step}`,
          Run: <RunLink executionId={approval.executionId} />,
          Tenant: approval.tenantId,
          Since: <Time value={approval.since} />,
        }}
      />
    </section>
  )
}

/** That the same was asked before, so that nobody pays twice. */
function SameHint({ approval }: { approval: ApprovalRecord }) {
  const { decided, title } = approval
  const values = Object.entries(shownValues(approval)).map(([name, value]) => `${name} ${value}`)
  return (
    <p class="warning-note" role="note">
      <strong>{decided ? 'The same was decided before' : 'Another open approval asks for the same'}: </strong>
      <TextLink href={hrefHere({ item: keyOf(approval) })} text={[title, ...values].join(', ')} />
      {decided && say`. ${describeOutcome(decided)}, ${<Time value={decided.decidedAt} />}`}
    </p>
  )
}

export function TimeLeft({ until }: { until: string }) {
  const left = timeLeft(until, useNow())
  return (
    <span class={left < 3_600_000 ? 'approval-urgent' : 'muted'}>
      {left === 0 ? 'time is over' : `${formatSeconds(left)} left`}
    </span>
  )
}

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

type DecisionProps = Pick<Props, 'approval' | 'isLocked' | 'onDecided'> & {
  draft: Draft
  /** Of the edited input, or it is not checked yet. */
  hasMistakes: boolean
  onNote: (note: string) => void
}

function Decision({ approval, draft, hasMistakes, isLocked, onNote, onDecided }: DecisionProps) {
  const { text, note } = draft
  const isChanged = text !== null && text.trim() !== printJson(approval.input).trim()

  function decide(decision: 'approve' | 'reject') {
    if (isLocked) return
    // The edited input goes as it was typed, so that no number changes.
    const input = decision === 'approve' && isChanged ? `,"input":${text}` : ''
    const added = note.trim() === '' ? '' : `,"note":${JSON.stringify(note)}`
    const body = `{"decision":"${decision}"${input}${added}}`
    const { title } = approval
    if (!decisions.decide({ key: keyOf(approval), title, decision }, toSend(approval, body))) return
    announce(decision === 'approve' ? 'Approved.' : 'Rejected.')
    onDecided()
  }
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
        You can undo a decision for {UNDO_MS / 1_000} seconds, unless you leave the page. The first one
        counts.
        {isChanged && ' The agent is told that the input was changed.'}
      </p>
      <div class="actions">
        <Button label="Reject" class="danger" aria-disabled={isLocked} onClick={() => decide('reject')} />
        <Button
          label={isChanged ? 'Approve with changes' : 'Approve'}
          class="primary"
          disabled={hasMistakes}
          aria-disabled={isLocked}
          onClick={() => decide('approve')}
        />
      </div>
    </div>
  )
}
