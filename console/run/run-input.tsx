import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { JsonView } from '../components/json-view.tsx'

/** The input as it was sent. If it was adapted, also what the agent received, and what was changed. */
export function RunInput({ run }: { run: ExecutionRecord }) {
  const { input, adaptedInput, inputAdaptations } = run
  const [shown, setShown] = useState<'sent' | 'adapted'>('sent')
  const isAdapted = shown === 'adapted' && adaptedInput !== undefined
  return (
    <section class="card" aria-labelledby="input-title">
      <h2 id="input-title">Input</h2>
      {adaptedInput && (
        <fieldset class="choices">
          <legend class="visually-hidden">Which input</legend>
          <Choice label="As sent" isChosen={!isAdapted} onChoose={() => setShown('sent')} />
          <Choice
            label="As adapted for the agent"
            isChosen={isAdapted}
            onChoose={() => setShown('adapted')}
          />
        </fieldset>
      )}
      <JsonView
        value={isAdapted ? adaptedInput : input}
        label={isAdapted ? 'the adapted input' : 'the input'}
      />
      {inputAdaptations.length > 0 && (
        <details open>
          <summary>
            {inputAdaptations.length === 1 ? '1 change' : `${inputAdaptations.length} changes`} to fit the
            schema
          </summary>
          <ul>
            {inputAdaptations.slice(0, 100).map(({ path, kind, message }) => (
              <li key={`${path} ${kind} ${message}`}>{message}</li>
            ))}
            {inputAdaptations.length > 100 && <li>…</li>}
          </ul>
        </details>
      )}
    </section>
  )
}

const Choice = ({
  label,
  isChosen,
  onChoose,
}: {
  label: string
  isChosen: boolean
  onChoose: () => void
}) => (
  <label>
    <input type="radio" name="shown-input" checked={isChosen} onChange={onChoose} />
    {label}
  </label>
)
