import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'
import { formatDuration } from '../components/format.ts'
import { memo } from '../components/memo.ts'
import { useNow } from '../components/values.tsx'
import { visibleRange } from '../runs/use-visible-range.ts'
import { findTyped } from './search.ts'
import { scaleMarks, toAxis, type View } from './timeline.ts'
import { RUN_ID, type Trace, type TraceItem } from './trace.ts'
import { Row, type RowActions, rowId } from './trace-row.tsx'

type Props = RowActions & {
  trace: Trace
  rows: TraceItem[]
  view: View
  /** Whether there may be more items later: the end is followed until the user scrolls or chooses an item. */
  isLive: boolean
  isFollowing: boolean
  onFollow: (isFollowing: boolean) => void
  selectedId: string
  foundIds: ReadonlySet<string>
  openIds: ReadonlySet<string>
}

/** Pixels; the style sheet has the same. */
const ROW_HEIGHT = 30

/** Characters that follow each other within this time are one name. */
const TYPING_MS = 500

/** The trace as a tree, of which only the visible rows exist. It has the focus as a whole, as the ARIA pattern says. */
export function TraceTree(props: Props) {
  const { trace } = props
  return props.isLive ? <LiveTree {...props} /> : <Tree {...props} end={trace.end} />
}

/** Only a run in progress depends on the time. */
const LiveTree = (props: Props) => <Tree {...props} end={Math.max(props.trace.end, useNow())} />

function Tree(props: Props & { end: number }) {
  const { trace, rows, view, isLive, isFollowing, selectedId, openIds, foundIds, end } = props
  const axis = useMemo(() => toAxis(trace, view, end), [trace, view, end])
  const box = useRef<HTMLDivElement>(null)
  const [scroll, setScroll] = useState({ scrollTop: 0, height: 600 })
  const typed = useRef({ text: '', at: 0 })
  const { start: first, end: last } = visibleRange({
    ...{ top: -scroll.scrollTop, windowHeight: scroll.height },
    ...{ rowHeight: ROW_HEIGHT, count: rows.length },
  })
  const found = rows.findIndex(({ id }) => id === selectedId)
  const selected = Math.max(found, 0)

  const readView = () => {
    const { scrollTop = 0, clientHeight = 600 } = box.current ?? {}
    setScroll((old) =>
      old.scrollTop === scrollTop && old.height === clientHeight ? old : { scrollTop, height: clientHeight },
    )
  }
  useLayoutEffect(readView, [])
  useEffect(() => listen(window, { resize: readView }), [])
  useLayoutEffect(() => {
    if (isLive && isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [rows.length, isFollowing])
  useLayoutEffect(() => {
    if (!box.current || (isLive && isFollowing)) return
    const { scrollTop, clientHeight: height } = box.current
    box.current.scrollTop = scrollTopFor(selected, { scrollTop, height, rowHeight: ROW_HEIGHT })
  }, [selectedId, rows.length > 0])

  const onScroll = () => {
    readView()
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {}
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - ROW_HEIGHT
    if (isLive && isAtEnd !== isFollowing) props.onFollow(isAtEnd)
  }

  const move = (row: number) => {
    const item = rows[Math.min(Math.max(row, 0), rows.length - 1)]
    if (item) props.onSelect(item.id, false)
  }

  /** Goes to the row whose name is typed. @returns whether the key is a part of one: `/` opens the search */
  function type({ key, timeStamp, isComposing }: KeyboardEvent): boolean {
    if (isComposing || [...key].length !== 1 || key === '/') return false
    const begun = timeStamp - typed.current.at < TYPING_MS ? typed.current.text : ''
    if (begun === '' && key === ' ') return false
    typed.current = { text: begun + key, at: timeStamp }
    move(findTyped(rows, begun + key, selected))
    return true
  }

  function onKeyDown(event: TargetedKeyboardEvent<HTMLDivElement>) {
    const item = rows[selected]
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return
    if (type(event)) return event.preventDefault()
    const page = Math.max(Math.floor(scroll.height / ROW_HEIGHT) - 1, 1)
    const isOpen = openIds.has(item.id)
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(selected + 1),
      ArrowUp: () => move(selected - 1),
      PageDown: () => move(selected + page),
      PageUp: () => move(selected - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ArrowRight: () =>
        item.children > 0 && item.id !== RUN_ID && !isOpen
          ? props.onToggle(item.id, true)
          : move(selected + 1),
      ArrowLeft: () => {
        if (isOpen) props.onToggle(item.id, false)
        else if (item.parentId !== null) props.onSelect(item.parentId, false)
      },
      Enter: () => props.onSelect(item.id, true),
      ' ': () => item.id !== RUN_ID && item.children > 0 && props.onToggle(item.id, !isOpen),
    }
    const action = actions[event.key]
    if (!action) return
    event.preventDefault()
    action()
  }

  const percent = (time: number) => (100 * (axis.at(time) - axis.start)) / axis.length
  return (
    <div class="panel trace-tree">
      <Scale length={axis.length} />
      <div
        ref={box}
        class="trace-rows"
        role="tree"
        aria-label="Steps of the run"
        tabIndex={0}
        aria-activedescendant={rowId(rows[selected]?.id ?? RUN_ID)}
        onKeyDown={onKeyDown}
        onScroll={onScroll}
      >
        <div
          role="none"
          style={{
            paddingTop: `${first * ROW_HEIGHT}px`,
            paddingBottom: `${(rows.length - last) * ROW_HEIGHT}px`,
          }}
        >
          {rows.slice(first, last).map((item) => (
            <Row
              key={item.id}
              item={item}
              left={percent(item.start)}
              width={Math.max(percent(item.end ?? end) - percent(item.start), 0)}
              isOpen={openIds.has(item.id)}
              isSelected={item.id === rows[selected]?.id}
              isFound={foundIds.has(item.id)}
              onToggle={props.onToggle}
              onSelect={props.onSelect}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** Where to scroll so that a row is in view: not at all if it is. Lengths in pixels. */
export function scrollTopFor(row: number, params: { scrollTop: number; height: number; rowHeight: number }) {
  const { scrollTop, height, rowHeight } = params
  const top = row * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop
}

const Scale = memo(({ length }: { length: number }) => (
  <div class="trace-scale" aria-hidden="true">
    <span class="trace-scale-marks">
      {scaleMarks(length).map((mark) => (
        <span key={mark} style={{ left: `${(100 * mark) / length}%` }}>
          {formatDuration(mark)}
        </span>
      ))}
    </span>
  </div>
))
