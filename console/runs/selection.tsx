import { useCallback, useEffect, useState } from 'preact/hooks'
import { formatCountOf } from '../components/format.ts'
import type { Run } from './run-list.ts'

const MAX_RETRIES = 50

export const isFailed = ({ status }: Run) => status === 'ERROR'

export const SELECT_ALL = 'select-all-runs'

/** Failed runs of the list, in its order. @param key of the list: another one has none that are selected */
export function useSelection(listed: Run[], key: string) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const select = (runs: Run[]) => setIds(new Set(runs.slice(0, MAX_RETRIES).map(({ id }) => id)))
  const toggle = useCallback((id: string) => {
    setIds((last) => new Set(last.has(id) ? [...last].filter((each) => each !== id) : [...last, id]))
  }, [])
  const clear = () => select([])
  useEffect(clear, [key])
  const failed = listed.filter(isFailed)
  const runs = failed.filter(({ id }) => ids.has(id))
  return { runs, ids, failed, isFull: runs.length >= MAX_RETRIES, toggle, select, clear }
}

export function SelectAll({ runs, failed, select }: ReturnType<typeof useSelection>) {
  const all = Math.min(failed.length, MAX_RETRIES)
  const isAll = runs.length >= all
  return (
    <label class="choice">
      <input
        id={SELECT_ALL}
        type="checkbox"
        checked={isAll}
        ref={(input) => {
          if (input) input.indeterminate = runs.length > 0 && !isAll
        }}
        onChange={() => select(isAll ? [] : failed)}
      />
      {failed.length > MAX_RETRIES
        ? `Select the newest ${MAX_RETRIES} failed runs`
        : `Select ${formatCountOf(all, 'failed run')}`}
    </label>
  )
}
