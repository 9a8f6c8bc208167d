import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import type { ApiError } from '../api/api-error.ts'
import { Button } from '../components/button.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { type Issue, locate } from '../schema/check-text.ts'
import { useFocusNext } from '../schema/form/field-frame.tsx'
import { tryParseTree } from '../schema/json-node.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { InputForm } from './input-form.tsx'
import { OptionsForm } from './options-form.tsx'
import { applicableOptions, findOptionProblems, isStrict } from './run-options.ts'
import type { useTypedInput } from './typed-inputs.ts'

type Props = {
  agent: AgentRecord
  versions: VersionRecord[]
  version: VersionRecord | undefined
  inputSchema: JsonObject
  input: ReturnType<typeof useTypedInput>
  isRunning: boolean
  /** What the service said about this input and these options. */
  serverIssues: Issue[]
  serverProblems: Partial<Record<string, string>>
  children?: ComponentChildren
  onRun: () => void
}

export function TryForm(props: Props) {
  const { version, inputSchema, input, isRunning } = props
  const { notice, isChanged } = input
  const { text, options } = input.typed
  const form = useRef<HTMLDivElement>(null)
  const focusNext = useFocusNext()
  const ownProblems = findOptionProblems(
    applicableOptions(options, version),
    version?.execution.maxAgentStepsAllowed,
  )
  const problems = { ...props.serverProblems, ...ownProblems }
  const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector)

  function reset() {
    focusNext(() => find('.try-notice button'))
    input.reset()
  }

  function undo() {
    focusNext(() => find('.try-reset, button.primary'))
    input.undo()
  }

  return (
    <div ref={form}>
      <InputForm
        schema={inputSchema}
        {...{ text, isRunning }}
        mode={isStrict(options, version) ? 'strict' : 'adapting'}
        label="Run"
        others={{
          count: Object.keys(problems).length,
          isBlocking: Object.keys(ownProblems).length > 0,
        }}
        serverIssues={props.serverIssues}
        notice={
          <div role="status" class="try-notice">
            {notice && (
              <p>
                <VisibleText text={notice.message} />{' '}
                {notice.previous && <Button label="Undo" class="small" onClick={undo} />}
              </p>
            )}
          </div>
        }
        more={
          isChanged && (
            <Button
              label="Reset"
              class="try-reset"
              title="Empties the form, or takes it back to the run that it began with. You can undo it."
              onClick={reset}
            />
          )
        }
        help={
          <>
            <kbd>Ctrl</kbd> + <kbd>Enter</kbd>
          </>
        }
        onText={input.setText}
        onRun={props.onRun}
      >
        <details class="card" open={Object.keys(problems).length > 0 || undefined}>
          <summary>Options</summary>
          <OptionsForm {...props} {...{ options, problems }} onChange={input.setOptions} />
        </details>
        {props.children}
      </InputForm>
    </div>
  )
}

/** The violations that the service named, at their positions in the input that was sent; none for a large input. */
export function toServerIssues(error: ApiError | null, text: string): Issue[] {
  if (error?.code !== 'InputSchemaMismatch' || !isEditable(text)) return []
  const root = tryParseTree(text)
  return root ? locate(text, root, error.problem?.errors ?? []) : []
}

export function toServerOptionProblems(error: ApiError | null): Partial<Record<string, string>> {
  if (error?.code !== 'InvalidQueryParameter' && error?.code !== 'InvalidModelOverride') return {}
  return Object.fromEntries((error.problem?.errors ?? []).map(({ path, message }) => [path, message]))
}
