import { useRef } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { emptyList } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import { newItem } from './field.ts'
import { CONTROLS, FieldFrame, type FieldProps, RemoveButton, useFocusNext, useForm } from './field-frame.tsx'

/** A list whose items are added and removed. The focus follows: to what was added, or to what took its place. */
export function ListField({ items: itemPart, ...props }: FieldProps & { items: Json }) {
  const { view, onChange, renderPart } = useForm()
  const { node, path, label, isRequired } = props
  const list = useRef<HTMLOListElement>(null)
  const addButton = useRef<HTMLButtonElement>(null)
  const focusNext = useFocusNext()
  const items = node?.type === 'array' ? node.items : []

  const inItem = (index: number, selector: string) =>
    list.current?.children[index]?.querySelector<HTMLElement>(selector)

  function add() {
    const { length } = items
    focusNext(
      () => inItem(length, 'input, textarea, select') ?? inItem(length, CONTROLS) ?? addButton.current,
    )
    onChange([...path, items.length], newItem(itemPart, view))
  }

  function remove(index: number) {
    const next = Math.min(index, items.length - 2)
    focusNext(() => inItem(next, '[data-removes]') ?? addButton.current)
    onChange([...path, index], undefined)
  }

  /** The button that does it is gone afterwards. */
  function setList(value: JsonNode | undefined) {
    focusNext(() => addButton.current)
    onChange(path, value)
  }

  return (
    <FieldFrame
      {...props}
      isGroup
      actions={
        <>
          {node && !isRequired && <RemoveButton subject={label} onClick={() => setList(undefined)} />}
          {props.actions}
        </>
      }
    >
      {node && items.length === 0 && <p class="muted">No items.</p>}
      <ol class="stack plain-list field-items" ref={list}>
        {items.map((item, index) => (
          <li key={index}>
            {renderPart({
              part: itemPart,
              path: [...path, index],
              label: `${label} ${index + 1}`,
              isRequired: false,
              node: item,
              actions: (
                <RemoveButton subject={`${label} ${index + 1}`} isInList onClick={() => remove(index)} />
              ),
            })}
          </li>
        ))}
      </ol>
      <div class="actions">
        <button type="button" class="small" ref={addButton} onClick={add}>
          Add item
          <VisibleText text={` to ${label}`} class="visually-hidden" />
        </button>
        {!node && isRequired && (
          <button type="button" class="small" onClick={() => setList(emptyList())}>
            Empty list
            <VisibleText text={` for ${label}`} class="visually-hidden" />
          </button>
        )}
      </div>
    </FieldFrame>
  )
}
