import type { ComponentChildren, TargetedKeyboardEvent, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { Button } from '../components/button.tsx'
import { formatCountOf } from '../components/format.ts'
import { Card } from '../components/page.tsx'
import type { CheckMode, Issue } from '../schema/check-text.ts'
import { runCheck, useCheck } from '../schema/run-check.ts'
import { SchemaEditor } from '../schema/schema-editor.tsx'
import { useScope } from '../state/session.ts'

type InputProps = {
  schema: JsonObject
  text: string
  mode: CheckMode
  label: string
  isRunning: boolean
  /** Of what is beside the input: how many, and whether they keep the run from being sent. */
  others?: { count: number; isBlocking: boolean }
  serverIssues?: Issue[]
  notice?: ComponentChildren
  children?: ComponentChildren
  more?: ComponentChildren
  help: ComponentChildren
  onText: (text: string) => void
  onRun: () => void
}

/** The input of a run. One with mistakes is sent on a second attempt, if it is JSON. Ctrl+Enter or ⌘+Enter sends it. */
export function InputForm(props: InputProps) {
  const { schema, text, mode, label, isRunning, onText, onRun } = props
  const { others = { count: 0, isBlocking: false }, serverIssues = [] } = props
  const mayRun = useScope('run')
  const form = useRef<HTMLFormElement>(null)
  const wantsFocus = useRef(false)
  const [problems, setProblems] = useState<string[]>([])
  /** The text whose mistakes the last attempt to run has shown. Before that, what is missing is not a mistake. */
  const [attempted, setAttempted] = useState<{ text: string; isSyntax: boolean } | null>(null)
  const check = useCheck({ text, schema, mode })
  const found = attempted ? check.issues : check.issues.filter(({ isMissing }) => !isMissing)
  const issues = mergeIssues(found, serverIssues)
  const errorCount = issues.length + problems.length + others.count
  const isAcknowledged = attempted?.text === text && !attempted.isSyntax

  async function run(event?: TargetedSubmitEvent<HTMLFormElement>) {
    event?.preventDefault()
    if (isRunning || !mayRun) return
    const isIncomplete = leaveIncompleteField()
    if (isIncomplete || problems.length > 0 || others.isBlocking) {
      setAttempted((last) => last ?? { text, isSyntax: false })
      wantsFocus.current = !isIncomplete && !focusFirstError()
      return
    }
    if (!isAcknowledged) {
      // What cannot be checked here is checked by the service.
      const request = { text, schema, mode }
      const mistakes = await runCheck(request, new AbortController().signal).catch(() => [])
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

  function runOnEnter(event: TargetedKeyboardEvent<HTMLFormElement>) {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void run()
  }

  const hasMistakes = attempted?.text === text && (check.issues.length > 0 || problems.length > 0)
  const canIgnore = hasMistakes && !attempted.isSyntax && problems.length === 0
  return (
    <form class="stack" ref={form} onSubmit={run} onKeyDown={runOnEnter} noValidate>
      <Card title="Input">
        {props.notice}
        <SchemaEditor
          {...{ text, schema, issues }}
          label="Input"
          isSummarized={attempted !== null || serverIssues.length > 0}
          onChange={onText}
          onProblems={setProblems}
        />
        {check.error !== null && <p class="muted">The input is not checked here: {check.error}</p>}
      </Card>
      {props.children}
      <div class="panel try-bar">
        <div class="actions">
          <button type="submit" class="primary" disabled={isRunning || !mayRun}>
            {isRunning ? 'Running…' : canIgnore ? `${label} anyway` : label}
          </button>
          {errorCount > 0 && attempted !== null && (
            <Button
              label={formatCountOf(errorCount, 'error')}
              class="link try-errors"
              onClick={focusFirstError}
            />
          )}
          {props.more}
          <span class="muted">{mayRun ? props.help : 'This token may not run agents.'}</span>
        </div>
        <div role="alert" class="try-problems">
          {hasMistakes && (
            <p class="field-error">
              {attempted.isSyntax
                ? 'Correct the JSON: it cannot be sent like this.'
                : problems.length > 0
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

/** Both, without what both have found. */
function mergeIssues(own: Issue[], server: Issue[]): Issue[] {
  const known = new Set(own.map(({ path, message }) => `${path} ${message}`))
  return [...own, ...server.filter(({ path, message }) => !known.has(`${path} ${message}`))].sort(
    (a, b) => a.offset - b.offset,
  )
}
