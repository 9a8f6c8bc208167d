import { measured } from '../metrics.ts'
import { openStores, type Stores } from './open-stores.ts'

/** For functions that finish executions. The others should not load the metrics. */
export function openMeasuredStores(): Stores {
  const stores = openStores()
  return { ...stores, executions: measured(stores.executions) }
}
