import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { emptyList } from '../json-edit.ts'
import { newItem } from './field.ts'
import { type FieldProps, GroupFrame, useForm } from './field-frame.tsx'

/** A list whose items are added and removed. The focus follows: to what was added, or to what took its place. */
export function ListField({ items: itemPart, ...props }: FieldProps & { items: Json }) {
  const { view, onChange, isReadOnly, renderPart } = useForm()
  const { node, path, label, isRequired } = props
  const list = useRef<HTMLOListElement>(null)
  const addButton = useRef<HTMLButtonElement>(null)
  const focusNext = useRef<{ index: number; selectors: string[] } | null>(null)
  const items = node?.type === 'array' ? node.items : []

  useLayoutEffect(() => {
    const next = focusNext.current
    focusNext.current = null
    if (!next) return
    const item = list.current?.children[next.index]
    const found = next.selectors.map((selector) => item?.querySelector<HTMLElement>(selector))
    ;(found.find(Boolean) ?? addButton.current)?.focus()
  }, [items.length])

  function add() {
    focusNext.current = { index: items.length, selectors: ['input, textarea, select', 'button'] }
    onChange([...path, items.length], newItem(itemPart, view))
  }

  function remove(index: number) {
    focusNext.current = { index: Math.min(index, items.length - 2), selectors: ['[data-removes]'] }
    onChange([...path, index], undefined)
  }

  const clear = !isReadOnly && node && !isRequired && (
    <button
      type="button"
      class="small"
      aria-label={`Remove ${label}`}
      onClick={() => onChange(path, undefined)}
    >
      Remove
    </button>
  )
  return (
    <GroupFrame
      {...props}
      actions={
        <>
          {clear}
          {props.actions}
        </>
      }
    >
      {node && items.length === 0 && <p class="muted">No items.</p>}
      <ol class="field-items" ref={list}>
        {items.map((item, index) => (
          <li key={index}>
            {renderPart({
              part: itemPart,
              path: [...path, index],
              label: `${label} ${index + 1}`,
              isRequired: false,
              node: item,
              actions: !isReadOnly && (
                <button
                  type="button"
                  class="small"
                  data-removes=""
                  aria-label={`Remove ${label} ${index + 1}`}
                  onClick={() => remove(index)}
                >
                  Remove
                </button>
              ),
            })}
          </li>
        ))}
      </ol>
      {!isReadOnly && (
        <div class="field-group-actions">
          <button type="button" class="small" ref={addButton} onClick={add}>
            Add item<span class="visually-hidden"> to {label}</span>
          </button>
          {!node && isRequired && (
            <button type="button" class="small" onClick={() => onChange(path, emptyList())}>
              Empty list<span class="visually-hidden"> for {label}</span>
            </button>
          )}
        </div>
      )}
    </GroupFrame>
  )
}
