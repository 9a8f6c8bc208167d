import type { ComponentChildren, TargetedKeyboardEvent, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent-record.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import type { ApiError } from '../api/api-error.ts'
import { Card } from '../components/data.tsx'
import { formatCountOf } from '../components/format.ts'
import { VisibleText } from '../components/visible-text.tsx'
import { type Issue, locate } from '../schema/check-text.ts'
import { useFocusNext } from '../schema/form/field-frame.tsx'
import { tryParseTree } from '../schema/json-node.ts'
import { runCheck, useCheck } from '../schema/run-check.ts'
import { SchemaEditor } from '../schema/schema-editor.tsx'
import { isEditable } from '../schema/use-large-input.ts'
import { useScope } from '../state/session.ts'
import { OptionsForm } from './options-form.tsx'
import { applicableOptions, findOptionProblems, type RunOptions } from './run-options.ts'

type Props = {
  agent: AgentRecord
  versions: VersionRecord[]
  version: VersionRecord | undefined
  inputSchema: JsonObject
  text: string
  options: RunOptions
  isRunning: boolean
  /** Whether it differs from how the form began. */
  isChanged: boolean
  /** What has replaced the input. */
  notice: { message: string; previous: object | null } | null
  /** What the service said about this input and these options. */
  serverIssues: Issue[]
  serverProblems: Partial<Record<string, string>>
  onText: (text: string) => void
  onOptions: (options: RunOptions) => void
  /** Between the options and the button. */
  children?: ComponentChildren
  onReset: () => void
  onUndo: () => void
  onRun: () => void
}

/** The input and the options of a run. Ctrl+Enter or ⌘+Enter starts it from anywhere in the form. */
export function TryForm(props: Props) {
  const { version, inputSchema, text, options, isRunning, isChanged, notice, onText, onOptions, onRun } =
    props
  const focusNext = useFocusNext()
  const ownProblems = findOptionProblems(
    applicableOptions(options, version),
    version?.execution.maxAgentStepsAllowed,
  )
  const mayRun = useScope('run')
  const form = useRef<HTMLFormElement>(null)
  const wantsFocus = useRef(false)
  const [formProblems, setFormProblems] = useState<string[]>([])
  /** The text whose mistakes the last attempt to run has shown. Before that, what is missing is not a mistake. */
  const [attempted, setAttempted] = useState<{ text: string; isSyntax: boolean } | null>(null)
  const mode = options.enforceInputSchema ? 'strict' : 'adapting'
  const check = useCheck({ text, schema: inputSchema, mode })
  const found = attempted ? check.issues : check.issues.filter(({ isMissing }) => !isMissing)
  const issues = mergeIssues(found, props.serverIssues)
  const problems = { ...props.serverProblems, ...ownProblems }
  const errorCount = issues.length + formProblems.length + Object.keys(problems).length
  const isAcknowledged = attempted?.text === text && !attempted.isSyntax

  async function run(event?: TargetedSubmitEvent<HTMLFormElement>) {
    event?.preventDefault()
    if (isRunning || !mayRun) return
    const isIncomplete = leaveIncompleteField()
    if (isIncomplete || formProblems.length > 0 || Object.keys(ownProblems).length > 0) {
      setAttempted((last) => last ?? { text, isSyntax: false })
      wantsFocus.current = !isIncomplete && !focusFirstError()
      return
    }
    if (!isAcknowledged) {
      // What cannot be checked here is checked by the service.
      const mistakes = await runCheck(
        { text, schema: inputSchema, mode },
        new AbortController().signal,
      ).catch(() => [])
      setAttempted({ text, isSyntax: mistakes.some(({ kind }) => kind === 'syntax') })
      if (mistakes.length > 0) {
        wantsFocus.current = true
        return
      }
    }
    onRun()
  }

  // The mistakes that an attempt to run has found may be shown a moment later.
  useEffect(() => {
    if (attempted?.text !== text) wantsFocus.current = false
    if (!wantsFocus.current) return
    if (focusFirstError()) wantsFocus.current = false
  })

  /** A date that is not complete is noticed when its field loses the focus, which it may still have. */
  function leaveIncompleteField(): boolean {
    const fields = [...(form.current?.querySelectorAll('input') ?? [])]
    const incomplete = fields.find(({ validity }) => validity.badInput)
    incomplete?.blur()
    incomplete?.focus()
    return incomplete !== undefined
  }

  function focusFirstError(): boolean {
    const control = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid]')
    control?.focus()
    return Boolean(control)
  }

  function reset() {
    focusNext(() => form.current?.querySelector<HTMLElement>('.try-notice button'))
    props.onReset()
  }

  function undo() {
    focusNext(() => form.current?.querySelector<HTMLElement>('.try-reset, button.primary'))
    props.onUndo()
  }

  function runOnEnter(event: TargetedKeyboardEvent<HTMLFormElement>) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void run()
  }

  const hasMistakes = attempted?.text === text && (check.issues.length > 0 || formProblems.length > 0)
  const canIgnore = hasMistakes && !attempted.isSyntax && formProblems.length === 0
  return (
    <form class="stack" ref={form} onSubmit={run} onKeyDown={runOnEnter} noValidate>
      <Card title="Input">
        <div role="status" class="try-notice">
          {notice && (
            <p>
              <VisibleText text={notice.message} />{' '}
              {notice.previous && (
                <button type="button" class="small" onClick={undo}>
                  Undo
                </button>
              )}
            </p>
          )}
        </div>
        <SchemaEditor
          text={text}
          schema={inputSchema}
          label="Input"
          issues={issues}
          isSummarized={attempted !== null || props.serverIssues.length > 0}
          onChange={onText}
          onProblems={setFormProblems}
        />
        {check.error !== null && <p class="muted">The input is not checked here: {check.error}</p>}
      </Card>
      <details class="card" open={Object.keys(problems).length > 0 || undefined}>
        <summary>Options</summary>
        <OptionsForm {...props} problems={problems} onChange={onOptions} />
      </details>
      {props.children}
      <div class="try-bar">
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning || !mayRun}>
            {isRunning ? 'Running…' : canIgnore ? 'Run anyway' : 'Run'}
          </button>
          {errorCount > 0 && attempted !== null && (
            <button type="button" class="link try-errors" onClick={focusFirstError}>
              {formatCountOf(errorCount, 'error')}
            </button>
          )}
          {isChanged && (
            <button
              type="button"
              class="try-reset"
              title="Empties the form, or takes it back to the run that it began with. You can undo it."
              onClick={reset}
            >
              Reset
            </button>
          )}
          <span class="muted">
            {mayRun ? (
              <>
                <kbd>Ctrl</kbd> + <kbd>Enter</kbd>
              </>
            ) : (
              'This token may not run agents.'
            )}
          </span>
        </div>
        <div role="alert" class="try-problems">
          {hasMistakes && (
            <p class="field-error">
              {attempted.isSyntax
                ? 'Correct the JSON: it cannot be sent like this.'
                : formProblems.length > 0
                  ? 'Complete these fields first.'
                  : mode === 'strict'
                    ? 'Strict mode is on: the run would be rejected.'
                    : 'The run adapts what is unambiguous, and passes on the rest as it is.'}
            </p>
          )}
        </div>
      </div>
    </form>
  )
}

/** The violations that the service named, at their positions in the input that was sent; none for a large input. */
export function toServerIssues(error: ApiError | null, text: string): Issue[] {
  if (error?.code !== 'InputSchemaMismatch' || !isEditable(text)) return []
  const root = tryParseTree(text)
  return root ? locate(text, root, error.problem?.errors ?? []) : []
}

/** What the service said about parameters, by their names. */
export function toServerOptionProblems(error: ApiError | null): Partial<Record<string, string>> {
  if (error?.code !== 'InvalidQueryParameter' && error?.code !== 'InvalidModelOverride') return {}
  return Object.fromEntries((error.problem?.errors ?? []).map(({ path, message }) => [path, message]))
}

/** Both, without what both have found. */
function mergeIssues(own: Issue[], server: Issue[]): Issue[] {
  const known = new Set(own.map(({ path, message }) => `${path} ${message}`))
  return [...own, ...server.filter(({ path, message }) => !known.has(`${path} ${message}`))].sort(
    (a, b) => a.offset - b.offset,
  )
}
