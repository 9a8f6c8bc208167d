import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import type { Json } from '../../../lib/core/json.ts'
import { toJsonPointer } from '../../../lib/schema/message-text.ts'
import type { Issue } from '../check/check-text.ts'
import type { JsonPath } from '../json/json-edit.ts'
import type { JsonNode } from '../json/json-node.ts'
import type { SchemaView } from '../schema-view.ts'

/** One part of a value, to be edited. */
export type EditedPart = {
  /** Its schema. */
  part: Json
  path: JsonPath
  /** Undefined if it is absent. */
  node: JsonNode | undefined
  label: string
  isRequired: boolean
  /** Buttons that belong to it, such as one that removes an item. */
  actions?: ComponentChildren
}

/** What all controls of a form share. */
export type FormContextValue = {
  view: SchemaView
  /** Begins the ids of all elements. */
  id: string
  isReadOnly: boolean
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

/** The ids of the elements of one field. None contains a space, which separates ids in `aria-describedby`. */
export function useFieldIds(path: JsonPath) {
  const { id, issues } = useForm()
  const pointer = pointerOf(path)
  const control = `${id}-${encodeURIComponent(pointer)}`
  return { control, help: `${control}-help`, error: `${control}-error`, issues: issues.get(pointer) ?? [] }
}
