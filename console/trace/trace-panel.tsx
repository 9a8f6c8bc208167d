import './trace.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { announce, Button } from '../components/button.tsx'
import { formatCount, shorten } from '../components/format.ts'
import { Text, VisibleText } from '../components/visible-text.tsx'
import { searchTrace } from './search.ts'
import { hasWaits, rowsOf, type View, WHOLE_RUN } from './timeline.ts'
import { firstFailure, RUN_ID, type TracedRun, type TraceItem, toTrace, visibleItems } from './trace.ts'
import { ItemDetail } from './trace-detail.tsx'
import { TraceTree } from './trace-tree.tsx'

type Props = {
  run: TracedRun
  steps: StepRecord[]
  /** False while further ones are being loaded. */
  hasAllSteps: boolean
  live: string
  /** The item that is chosen; without an `onSelect`, the panel remembers it. */
  selectedId?: string | null
  onSelect?: (id: string) => void
  children: ComponentChildren
  /** Loads a step with the values that were left out. */
  onLoadStep?: ((number: number) => Promise<void>) | undefined
}

/** Characters: the end of a longer text is shown while the model is writing. */
const MAX_LIVE = 20_000

/** What happened in a run: a tree of its steps, calls, attempts and waits, and the detail of the chosen one. */
export function TracePanel({ run, steps, hasAllSteps, live, children, onLoadStep, ...chosen }: Props) {
  const [localId, setLocalId] = useState(RUN_ID)
  const selectedId = chosen.selectedId === undefined ? localId : (chosen.selectedId ?? RUN_ID)
  const trace = useMemo(() => toTrace(run, steps), [run, steps])
  const { items } = trace
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(new Set())
  const [isFollowing, setIsFollowing] = useState(selectedId === RUN_ID)
  const [text, setText] = useState('')
  const found = useMemo(() => searchTrace(items, text, run.error?.message ?? null), [items, text, run.error])
  const foundIds = useMemo(() => new Set(found.map(({ id }) => id)), [found])
  const detail = useRef<HTMLElement>(null)
  const isLive = run.status === 'IN_PROGRESS'
  const selected = items.find(({ id }) => id === selectedId)
  const [view, setView] = useState(WHOLE_RUN)
  const change = (changed: Partial<View>) => setView({ ...view, ...changed })
  const tree = useMemo(() => visibleItems(items, (id) => openIds.has(id)), [items, openIds])
  const rows = useMemo(() => rowsOf(tree, items, view), [tree, view])
  const parents = items.filter(({ id, children: count }) => id !== RUN_ID && count > 0)
  const areAllOpen = parents.length > 0 && parents.every(({ id }) => openIds.has(id))
  const failure = firstFailure(items)

  const toggle = (id: string, isOpen: boolean) =>
    setOpenIds((last) => {
      const next = new Set(last)
      if (isOpen) next.add(id)
      else next.delete(id)
      return next
    })
  // What is below a closed step cannot be seen.
  const parentId = selected?.parentId ?? null
  useEffect(() => {
    if (parentId !== null && parentId !== RUN_ID) toggle(parentId, true)
  }, [selectedId, parentId])

  function select(id: string, isDeliberate = false) {
    setIsFollowing(false)
    if (chosen.onSelect) chosen.onSelect(id)
    else setLocalId(id)
    if (isDeliberate && !isBeside(detail.current)) setTimeout(() => detail.current?.focus())
  }
  function toggleAndShow(id: string, isOpen: boolean) {
    toggle(id, isOpen)
    if (!isOpen && parentId === id) select(id)
  }
  function showFound(offset: 1 | -1) {
    const item = nextFound(found, { items, selectedId, offset })
    if (!item) return
    select(item.id)
    // The status beside the field says which of them it is.
    announce(item.label)
  }

  const at = found.findIndex(({ id }) => id === selectedId)
  return (
    <div class={`trace ${view.isWide ? 'trace-wide' : ''}`}>
      <div class="form trace-left">
        <div class="actions">
          <search class="trace-search">
            <input
              type="search"
              placeholder="Search names, texts and errors"
              aria-label="Search this run"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                showFound(event.shiftKey ? -1 : 1)
              }}
            />
            {text.trim() !== '' && (
              <>
                <span class="muted" role="status">
                  {found.length === 0
                    ? 'None'
                    : `${at === -1 ? '' : `${at + 1} of `}${formatCount(found.length)}`}
                </span>
                {MATCHES.map(([label, offset, arrow]) => (
                  <Button
                    label={arrow}
                    key={label}
                    class="small"
                    aria-label={label}
                    disabled={found.length === 0}
                    onClick={() => showFound(offset)}
                  />
                ))}
              </>
            )}
          </search>
          {failure && (
            <Button label="First error" class="small danger" onClick={() => select(failure.id, true)} />
          )}
          {parents.length > 0 && !view.isSlowestFirst && (
            <Button
              label={areAllOpen ? 'Close all' : 'Open all'}
              class="small"
              onClick={() => setOpenIds(new Set(areAllOpen ? [] : parents.map(({ id }) => id)))}
            />
          )}
          {isLive && !isFollowing && (
            <Button label="Follow" class="small" onClick={() => setIsFollowing(true)} />
          )}
          <Toggle
            label="Timeline"
            isOn={view.isWide}
            onChange={(isWide) => setView({ ...WHOLE_RUN, isWide })}
          />
          {view.isWide && (
            <>
              {hasWaits(trace) && (
                <Toggle
                  label="Hide waiting"
                  isOn={view.hidesWaits}
                  onChange={(hidesWaits) => change({ hidesWaits })}
                />
              )}
              <Toggle
                label="Slowest first"
                isOn={view.isSlowestFirst}
                onChange={(isSlowestFirst) => change({ isSlowestFirst })}
              />
              {view.zoomedId !== RUN_ID && (
                <Button label="Whole run" class="small" onClick={() => change({ zoomedId: RUN_ID })} />
              )}
              {selected && selected.id !== view.zoomedId && selected.end !== selected.start && (
                <Button label="Zoom to it" class="small" onClick={() => change({ zoomedId: selected.id })} />
              )}
            </>
          )}
        </div>
        <TraceTree
          {...{ trace, rows, view, isLive, isFollowing, selectedId, foundIds, openIds }}
          onFollow={setIsFollowing}
          onToggle={toggleAndShow}
          onSelect={select}
        />
        {!hasAllSteps && !isLive && (
          <p class="muted" role="status">
            Loading more steps…
          </p>
        )}
      </div>
      <section
        class="card stack trace-detail"
        ref={detail}
        tabIndex={-1}
        aria-label={selected ? detailName(selected) : 'Detail'}
      >
        {live !== '' && (
          <section aria-label="What the model is writing">
            <Text as="pre" text={live.slice(-MAX_LIVE)} />
          </section>
        )}
        {selectedId === RUN_ID ? (
          children
        ) : selected ? (
          <ItemDetail key={selected.id} item={selected} run={run} onLoadStep={onLoadStep} onSelect={select} />
        ) : hasAllSteps || isLive ? (
          <p class="muted">
            The run has no step <VisibleText text={selectedId} />
            {isLive ? ' yet' : ''}.
          </p>
        ) : (
          <p class="muted">
            Loading step <VisibleText text={selectedId} />…
          </p>
        )}
      </section>
    </div>
  )
}

type ToggleProps = { label: string; isOn: boolean; onChange: (isOn: boolean) => void }

const Toggle = ({ label, isOn, onChange }: ToggleProps) => (
  <Button label={label} class="small" aria-pressed={isOn} onClick={() => onChange(!isOn)} />
)

const MATCHES = [
  ['Previous match', -1, '↑'],
  ['Next match', 1, '↓'],
] as const

const detailName = ({ id, label }: TraceItem) =>
  id === RUN_ID ? 'The run' : `Detail of ${shorten(label, 100)}`

/** Whether the detail is beside the tree, not below it as on a phone. */
function isBeside(detail: HTMLElement | null): boolean {
  const tree = detail?.previousElementSibling?.getBoundingClientRect()
  return detail !== null && tree !== undefined && detail.getBoundingClientRect().top < tree.bottom
}

/** From the chosen item on, the next one that was found; after the last one, the first. */
function nextFound(
  found: TraceItem[],
  { items, selectedId, offset }: { items: TraceItem[]; selectedId: string; offset: 1 | -1 },
): TraceItem | undefined {
  const position = new Map(items.map(({ id }, index) => [id, index]))
  const current = position.get(selectedId) ?? 0
  const isNext = ({ id }: TraceItem) => ((position.get(id) ?? 0) - current) * offset > 0
  return offset === 1 ? (found.find(isNext) ?? found[0]) : (found.findLast(isNext) ?? found.at(-1))
}
