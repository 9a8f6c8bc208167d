import type { ComponentProps } from 'preact'
import './schema.css'
import { useId, useMemo, useState } from 'preact/hooks'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { mayHaveFiles } from '../../lib/schema/files/file-schema.ts'
import { Button } from '../components/button.tsx'
import { formatCountOf } from '../components/format.ts'
import { Segments } from '../components/page.tsx'
import { Text } from '../components/visible-text.tsx'
import type { Issue } from './check-text.ts'
import { controlId } from './form/field-frame.tsx'
import { replaceFiles } from './form/file-field.tsx'
import { hasForm, SchemaForm } from './form/schema-form.tsx'
import { explainIssue, labelOf } from './issue-text.ts'
import { emptyObject, type JsonPath, printJson, setNode, textNode } from './json-edit.ts'
import { IssueLinks, JsonInput } from './json-editor.tsx'
import { type JsonNode, tryParseTree } from './json-node.ts'
import { openSchema } from './schema-view.ts'
import { isEditable } from './use-large-input.ts'

type SchemaEditorProps = {
  /** JSON text: the one value that form and JSON are two views of. Numbers in it stay as they were typed. */
  text: string
  /** As the API returns it: a field map or a JSON Schema. */
  schema: JsonObject
  label: string
  /** Mistakes in the text, of `useCheck` or of the service. */
  issues: Issue[]
  /** Lists the mistakes above the form, with links to their fields. */
  isSummarized?: boolean
  onChange: (text: string) => void
  /** What is typed in the form, but is not part of the value yet. Empty when there is nothing. */
  onProblems?: (problems: string[]) => void
}

/** A form has a control for each part. With more parts, it is slow and too long to fill in. */
const MAX_PARTS = 1_000

export function SchemaEditor(props: SchemaEditorProps) {
  const { text, schema, label, isSummarized = false, onChange, onProblems } = props
  const id = useId()
  const [problems, setProblems] = useState<Record<string, string>>({})
  const [wanted, setWanted] = useState<'form' | 'json'>('form')
  const view = useMemo(() => openSchema(schema), [schema])
  const isLarge = useMemo(() => !isEditable(text), [text])
  const hasFiles = useMemo(() => mayHaveFiles(schema), [schema])
  const root = useMemo(() => (isLarge && !hasFiles ? null : tryParseTree(text)), [text, isLarge, hasFiles])
  // Files are not shown as text.
  const shownRoot = isLarge && root ? replaceFiles(root, emptyObject) : undefined
  const isTooLarge = isLarge && !(shownRoot && isEditable(printJson(shownRoot)))
  const obstacle = useMemo(() => obstacleOf(hasForm(view), isTooLarge, root), [view, isTooLarge, root])
  const shown = obstacle === null ? wanted : 'json'
  const { issues } = props
  // The editor names a line with each mistake, and the label of its field.
  const explained = useMemo(
    () =>
      issues.map((issue): Issue => {
        const { label, text } = explainIssue(issue, view)
        return { ...issue, message: label === '' ? text : `${label}: ${text}` }
      }),
    [issues, view],
  )

  function tellProblems(found: Record<string, string>) {
    setProblems(found)
    onProblems?.(Object.entries(found).map(([pointer, problem]) => `${labelOf(pointer, view)}: ${problem}`))
  }

  function setLongText(path: JsonPath, value: string) {
    onChange(printJson(setNode(root ?? undefined, path, textNode(value)) ?? emptyObject()))
  }

  return (
    <div class="form schema-editor">
      <div class="toolbar">
        <Segments
          label={`Edit ${label} as`}
          choices={{ form: 'Form', json: 'JSON' }}
          chosen={shown}
          isDisabled={(view) => view === 'form' && obstacle !== null}
          onChoose={setWanted}
        />
        {shown === 'json' && (
          <div class="actions">
            {root && !isLarge && (
              <Button label="Format" class="small" onClick={() => onChange(printJson(root))} />
            )}
            <FileButton onText={onChange} />
          </div>
        )}
      </div>
      {obstacle !== null && wanted === 'form' && <Text class="muted" text={obstacle} />}
      {isSummarized && shown === 'form' && (
        <IssueSummary
          items={[
            ...Object.entries(problems).map(([path, text]) => ({ path, label: labelOf(path, view), text })),
            ...issues.map((issue) => ({ path: issue.path, ...explainIssue(issue, view) })),
          ].map(({ path, label, text }) => ({
            ...{ label: label || 'The input', text },
            onSelect: () => focusPart(id, path),
          }))}
        />
      )}
      {shown === 'form' && root ? (
        <SchemaForm
          {...{ id, root, view, issues }}
          onChange={(next) => onChange(printJson(next))}
          onLongText={setLongText}
          onProblems={tellProblems}
        />
      ) : (
        <JsonInput {...{ text, label, onChange }} issues={explained} onClear={() => onChange('{}')} />
      )}
    </div>
  )
}

function IssueSummary({ items }: ComponentProps<typeof IssueLinks>) {
  const id = useId()
  if (items.length === 0) return null
  return (
    <section class="error-box issues" aria-labelledby={id}>
      <h3 id={id}>{formatCountOf(items.length, 'error')}</h3>
      <IssueLinks items={items} />
    </section>
  )
}

/** The control of a part, or that of the nearest part around it. */
function focusPart(id: string, pointer: string): void {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const element = document.getElementById(controlId(id, at))
    if (element) {
      element.focus({ preventScroll: true })
      element.scrollIntoView({ block: 'center' })
      return
    }
    if (at === '') return
  }
}

const FileButton = ({ onText }: { onText: (text: string) => void }) => (
  <label class="button small">
    Open file…
    <input
      type="file"
      class="visually-hidden"
      accept=".json,application/json"
      onChange={async ({ currentTarget }) => {
        const [file] = currentTarget.files ?? []
        currentTarget.value = ''
        if (file) onText(await file.text())
      }}
    />
  </label>
)

/** Why a value cannot be shown as a form; null if it can. */
function obstacleOf(isObject: boolean, isLarge: boolean, root: JsonNode | null): string | null {
  if (!isObject) return 'The schema has no declared fields, so there is no form.'
  if (isLarge) return 'Too large for the form.'
  if (!root) return 'Correct the JSON to return to the form.'
  if (root.type !== 'object') return 'The form needs a JSON object: { … }'
  return countParts(root) > MAX_PARTS ? 'Too many parts for the form.' : null
}

function countParts(node: JsonNode): number {
  const parts =
    node.type === 'array' ? node.items : node.type === 'object' ? node.members.map(({ value }) => value) : []
  return parts.reduce((count, part) => count + countParts(part), 1)
}
