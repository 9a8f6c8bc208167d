import { formatCountOf, formatDuration } from '../components/format.ts'
import { memo } from '../components/memo.ts'
import { toVisible, VisibleText } from '../components/visible-text.tsx'
import { RUN_ID, type TraceItem } from './trace.ts'

export type RowActions = {
  onToggle: (id: string, isOpen: boolean) => void
  /** @param isDeliberate chosen with a click or Enter, not on the way to another one */
  onSelect: (id: string, isDeliberate: boolean) => void
}

type Props = RowActions & {
  item: TraceItem
  /** Percent of the length of the trace. */
  left: number
  width: number
  isOpen: boolean
  isSelected: boolean
  isFound: boolean
}

const MARK_CLASSES = { done: '', open: 'badge-in_progress', failed: 'badge-error', cancelled: '' }
const MARKS = { done: null, open: 'in progress', failed: 'failed', cancelled: 'cancelled' }

export const Row = memo(({ item, left, width, isOpen, isSelected, isFound, onToggle, onSelect }: Props) => {
  const { id, kind, label, children, state, failedChildren, call } = item
  const isParent = children > 0 && id !== RUN_ID
  const level = id === RUN_ID ? 1 : item.parentId === RUN_ID ? 2 : 3
  const duration = item.end === null ? null : formatDuration(item.end - item.start)
  const isApproval = state === 'open' && call?.approval !== undefined && call.approval.decision === undefined
  const mark = isApproval
    ? 'waits for approval'
    : kind === 'wait' && state === 'open'
      ? 'waiting'
      : MARKS[state]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus, and handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: see above.
    <div
      id={rowId(id)}
      class={`trace-row trace-${kind} trace-is-${state}${isFound ? ' trace-found' : ''}`}
      role="treeitem"
      aria-level={level}
      aria-selected={isSelected}
      aria-expanded={id === RUN_ID ? true : isParent ? isOpen : undefined}
      onClick={() => onSelect(id, true)}
    >
      <span class="trace-name" style={{ paddingLeft: `${(level - 1) * 14}px` }}>
        <span
          class="trace-marker"
          aria-hidden="true"
          onClick={(event) => {
            if (!isParent) return
            event.stopPropagation()
            onToggle(id, !isOpen)
          }}
        >
          {isParent ? (isOpen ? '▾' : '▸') : ''}
        </span>
        <span class="trace-label" title={toVisible(label)}>
          {item.step && !call && `${item.step.number}. `}
          <VisibleText text={label} />
        </span>
        {isParent && !isOpen && <span class="muted">{formatCountOf(children, 'call')}</span>}
        {isParent && failedChildren > 0 && state !== 'failed' && (
          <span class="badge badge-error">
            {failedChildren === children ? '' : `${failedChildren} `}failed
          </span>
        )}
        {mark && <span class={`badge ${MARK_CLASSES[state]}`}>{mark}</span>}
      </span>
      <span class="trace-track" aria-hidden="true">
        <span class="trace-bar" style={{ left: `${left}%`, width: `${width}%` }} />
      </span>
      <span class="trace-duration">{kind === 'attempt' ? '' : (duration ?? '…')}</span>
    </div>
  )
})

/** The id of the element of an item. */
export const rowId = (id: string) => `trace-${id === RUN_ID ? 'run' : id}`
