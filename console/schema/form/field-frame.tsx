import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { toJsonPointer } from '../../../lib/schema/message-text.ts'
import { Button } from '../../components/button.tsx'
import { Text, VisibleText } from '../../components/visible-text.tsx'
import type { Issue } from '../check-text.ts'
import { explainMessage } from '../issue-text.ts'
import type { JsonPath } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import type { SchemaView } from '../schema-view.ts'
import type { Field } from './field.ts'

export type EditedPart = {
  part: Json
  path: JsonPath
  node: JsonNode | undefined
  label: string
  isRequired: boolean
  /** Buttons that belong to it, such as one that removes an item. */
  actions?: ComponentChildren
}

export type FormContextValue = {
  view: SchemaView
  /** Begins the ids of all elements. */
  id: string
  /** By JSON Pointer. */
  issues: ReadonlyMap<string, Issue[]>
  /** Undefined removes the part. */
  onChange: (path: JsonPath, value: JsonNode | undefined) => void
  /** A long text, which may be too long for a control. */
  onLongText: (path: JsonPath, text: string) => void
  /** A control whose content cannot be part of the value, or no longer (null). */
  onProblem: (path: JsonPath, problem: string | null) => void
  /** The controls for a part. Objects and lists contain parts of any kind. */
  renderPart: (part: EditedPart) => VNode
}

export const FormContext = createContext<FormContextValue | null>(null)

export function useForm(): FormContextValue {
  const form = useContext(FormContext)
  if (!form) throw new Error('Fields must be inside a form.')
  return form
}

export const pointerOf = (path: JsonPath): string => toJsonPointer(path.map(String))

/** The id of the control for a part. It contains no space, which separates ids in `aria-describedby`. */
export const controlId = (formId: string, pointer: string): string =>
  `${formId}-${encodeURIComponent(pointer.toWellFormed())}`

function useFieldIds(path: JsonPath) {
  const { id, issues } = useForm()
  const pointer = pointerOf(path)
  const control = controlId(id, pointer)
  return { control, help: `${control}-help`, error: `${control}-error`, issues: issues.get(pointer) ?? [] }
}

export type FieldProps = Omit<EditedPart, 'part'> & { field: Field }

type FrameProps = FieldProps & { isGroup?: boolean; children: ComponentChildren }

/** Label, help and errors around one control, or around the controls of an object or a list. */
export function FieldFrame({ field, path, label, isRequired, actions, isGroup, children }: FrameProps) {
  const ids = useFieldIds(path)
  const name = (
    <>
      <VisibleText text={field.title ?? label} /> {isRequired && <span class="field-mark">required</span>}
    </>
  )
  const content = (
    <>
      <Help field={field} id={ids.help} />
      {children}
      <Errors issues={ids.issues} field={field} id={ids.error} />
    </>
  )
  if (!isGroup)
    return (
      <div class="labelled">
        <div class="toolbar">
          <label for={ids.control}>{name}</label>
          {actions}
        </div>
        {content}
      </div>
    )
  return (
    <fieldset
      class="field-group"
      id={ids.control}
      aria-describedby={`${ids.help} ${ids.error}`}
      data-invalid={ids.issues.length > 0 || undefined}
      tabIndex={-1}
    >
      <legend>{name}</legend>
      {actions && <div class="actions field-group-corner">{actions}</div>}
      {content}
    </fieldset>
  )
}

/** The attributes that tie a control to its label, help and errors. */
export function useControl({ path, isRequired }: Pick<FieldProps, 'path' | 'isRequired'>) {
  const ids = useFieldIds(path)
  return {
    id: ids.control,
    'aria-describedby': `${ids.help} ${ids.error}`,
    'aria-invalid': ids.issues.length > 0,
    'aria-required': isRequired,
  }
}

type RemoveProps = { subject: string; isInList?: boolean; onClick: () => void }

export const RemoveButton = ({ subject, isInList, onClick }: RemoveProps) => (
  <Button
    label="Remove"
    class="small"
    data-removes={isInList ? '' : undefined}
    aria-label={`Remove ${subject}`}
    onClick={onClick}
  />
)

function Help({ field, id }: { field: Field; id: string }) {
  const hints = [
    field.hint,
    field.default === undefined ? '' : `default: ${JSON.stringify(field.default)}`,
    field.isNullable ? 'can be null' : '',
  ].filter((hint) => hint !== '')
  return (
    <p id={id} class="field-help">
      {field.description && <VisibleText text={field.description} />}
      {hints.length > 0 && <VisibleText text={hints.join(' · ')} class="field-hint" />}
    </p>
  )
}

/** Always there, so that screen readers notice when an error appears. */
function Errors({ issues, field, id }: { issues: Issue[]; field: Field; id: string }) {
  const texts = new Set(issues.map((issue) => explainMessage(issue, field)))
  return (
    <div id={id} class="field-errors" aria-live="polite">
      {[...texts].map((text) => (
        <Text key={text} class="field-error" text={text} />
      ))}
    </div>
  )
}

type Find = () => HTMLElement | null | undefined

/** Moves the focus after the next render, when what had it may be gone. */
export function useFocusNext(): (find: Find) => void {
  const next = useRef<Find | null>(null)
  useLayoutEffect(() => {
    const find = next.current
    next.current = null
    find?.()?.focus()
  })
  return (find) => {
    next.current = find
  }
}

/** What a keyboard fills in first. */
export const CONTROLS = 'input, textarea, select, button'
