import { Segments } from '../components/data.tsx'
import type { Period } from '../components/range.ts'
import { navigate, type Query, toHref } from '../state/location.ts'
import { PERIOD_LABELS } from './periods.ts'

/** @param path of the page, whose query has the period */
export const PeriodChoice = ({ period, path, query }: { period: Period; path: string; query?: Query }) => (
  <Segments
    label="Period"
    choices={PERIOD_LABELS}
    chosen={period}
    // The back button leaves the page, however often its period has changed.
    onChoose={(chosen) => navigate(toHref(path, { ...query, period: chosen }), { replace: true })}
  />
)
