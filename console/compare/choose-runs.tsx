import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { requestPage } from '../api/request.ts'
import { StartButton, useAction } from '../components/dialog.tsx'
import { TextField } from '../components/field.tsx'
import { shortId } from '../components/format.ts'
import { Card, ErrorBox } from '../components/page.tsx'
import { TextLink } from '../components/visible-text.tsx'
import { navigate, toHref } from '../state/location.ts'
import { parseRunId } from './comparison.ts'

type Props = {
  a: string
  b: string
  /** ID of the agent of run A, if it is known. */
  agent: string | null
  /** ID of the run that run A repeats, if it is known. */
  original: string | null
}

export function ChooseRuns({ a, b, agent, original }: Props) {
  const [texts, setTexts] = useState({ a, b })
  const [isChecked, setIsChecked] = useState(false)
  const isMissing = (name: 'a' | 'b') => isChecked && parseRunId(texts[name]) === null

  function compare(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const [first, second] = [parseRunId(texts.a), parseRunId(texts.b)]
    setIsChecked(true)
    if (first !== null && second !== null) show(first, second)
    else event.currentTarget.querySelector<HTMLInputElement>(`[name=${first === null ? 'a' : 'b'}]`)?.focus()
  }

  const field = (name: 'a' | 'b') => (
    <TextField
      label={name === 'a' ? 'Run A' : 'Run B'}
      name={name}
      value={texts[name]}
      onChange={(text) => setTexts({ ...texts, [name]: text })}
      isMono
      problems={isMissing(name) ? [MISSING] : []}
    />
  )
  const first = parseRunId(texts.a)
  return (
    <Card title="Which runs">
      <form class="form" onSubmit={compare} noValidate>
        <div class="grid">
          {field('a')}
          {field('b')}
        </div>
        <p class="muted">Paste the ID of a run, or the address of its page.</p>
        <div class="actions">
          {first !== null && original !== null && (
            <TextLink
              class="button"
              href={toHref('/compare', { a: original, b: first })}
              text="With the run that it repeats"
            />
          )}
          {first !== null && agent !== null && <LastSuccess agent={agent} other={first} />}
          <button type="submit" class="primary">
            Compare
          </button>
        </div>
      </form>
    </Card>
  )
}

const show = (a: string, b: string) => navigate(toHref('/compare', { a, b }))

const MISSING = `Enter the ID of a run, such as ${shortId('01a2003a-d1f2-7169-a695-5ea4428d9251')}: all 36 characters.`

function LastSuccess({ agent, other }: { agent: string; other: string }) {
  const [hasNone, setHasNone] = useState(false)
  const search = useAction(async () => {
    const query = { status: 'SUCCESS', limit: 2, fields: 'summary' }
    const path = `/v1/agents/${encodeURIComponent(agent)}/executions`
    const { items } = await requestPage<ExecutionSummaryRecord>(path, { query })
    const found = items.find(({ id }) => id !== other)
    if (found) show(found.id, other)
    else setHasNone(true)
  })
  return (
    <>
      {search.error && <ErrorBox error={search.error} />}
      {hasNone ? (
        <p role="status">The agent has no other successful run.</p>
      ) : (
        <StartButton of={search} label="With its last successful run" />
      )}
    </>
  )
}
