import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { formatCount, formatCountOf } from '../components/format.ts'
import { TextPortions } from '../components/json-view.tsx'
import { Segments } from '../components/page.tsx'
import { ValueView } from '../components/value-view.tsx'
import { Text, TextList } from '../components/visible-text.tsx'
import { RunError } from '../trace/trace-detail.tsx'

type Props = { run: ExecutionRecord; onLoadValues: () => Promise<void> }

export function RunValues({ run, onLoadValues }: Props) {
  const { error, output, status, logs, feedback, omitted } = run
  const outputBytes = omitted?.['/output']
  return (
    <>
      {error && <RunError error={error} />}
      <RunInput run={run} onLoadValues={onLoadValues} />
      {output || outputBytes !== undefined ? (
        <ValueView
          level={2}
          title="Output"
          note={run.cachedDocumentExecutionId !== undefined && <span class="badge">cached</span>}
          value={output}
          label="the output"
          omitted={outputBytes === undefined ? undefined : { bytes: outputBytes, load: onLoadValues }}
        />
      ) : (
        <div>
          <h2>Output</h2>
          <p class="muted">{status === 'IN_PROGRESS' ? 'No output yet: the run is in progress.' : 'None.'}</p>
        </div>
      )}
      {logs !== null && <RunLogs logs={logs} />}
      {feedback && <RunFeedback feedback={feedback} />}
    </>
  )
}

/** The input as it was sent. If it was adapted, also what the agent received, and what was changed. */
function RunInput({ run, onLoadValues }: Props) {
  const { input, adaptedInput, inputAdaptations, omitted } = run
  const [shown, setShown] = useState<'sent' | 'adapted'>('sent')
  const adaptedBytes = omitted?.['/adaptedInput']
  const hasAdapted = adaptedInput !== undefined || adaptedBytes !== undefined
  const isAdapted = shown === 'adapted' && hasAdapted
  const bytes = isAdapted ? adaptedBytes : omitted?.['/input']
  return (
    <div>
      <ValueView
        key={String(isAdapted)}
        level={2}
        title="Input"
        note={
          hasAdapted && (
            <Segments
              label="Which input"
              choices={{ sent: 'As sent', adapted: 'As adapted' }}
              chosen={isAdapted ? 'adapted' : 'sent'}
              onChoose={setShown}
            />
          )
        }
        value={isAdapted ? adaptedInput : input}
        label={isAdapted ? 'the adapted input' : 'the input'}
        omitted={bytes === undefined ? undefined : { bytes, load: onLoadValues }}
      />
      {inputAdaptations.length > 0 && (
        <details open={inputAdaptations.length <= 5}>
          <summary>{formatCountOf(inputAdaptations.length, 'change')} to fit the schema</summary>
          <TextList texts={inputAdaptations.map(({ message }) => message)} max={100} />
        </details>
      )}
    </div>
  )
}

const RunLogs = ({ logs }: { logs: string }) => (
  <div>
    <h2>Logs</h2>
    <p class="muted">What the code of the agent printed: the last {formatCount(16_000)} characters.</p>
    <pre class="long-text">
      <TextPortions text={logs} />
    </pre>
  </div>
)

function RunFeedback({ feedback }: { feedback: NonNullable<ExecutionRecord['feedback']> }) {
  const { rating, note, correctedOutput } = feedback
  return (
    <div>
      <h2>Feedback: {rating === 1 ? 'good' : 'bad'}</h2>
      <Text class="long-text" text={note} />
      {correctedOutput && (
        <ValueView title="Corrected output" value={correctedOutput} label="the corrected output" />
      )}
    </div>
  )
}
