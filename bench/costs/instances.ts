import { INSTANCES } from '../../infra/functions/runner-instances.ts'
import type { Row } from '../report.ts'
import { perMillion, toBill, totalOf } from './prices.ts'
import { MODEL_RUN_SECONDS, UNDER_LOAD, usageOf } from './usage.ts'

const MILLIONS_A_MONTH = [0.5, 5, 15]

/**
 * The hourly price of an `m7g.large` on demand, with the 15 % for its management. It has room for an environment of
 * `run-agent` and one of the runner. https://aws.amazon.com/lambda/pricing/
 */
const INSTANCE = { hour: 0.0816 * 1.15, concurrency: INSTANCES.concurrency }
/** Lambda keeps so many. */
const MIN_INSTANCES = 3
const HOURS = 730
/** The rate of the busiest hours, in those of the mean. */
const PEAK = 3
/** The price of an invocation. */
const REQUEST = 0.2e-6
/** Requests to models and the table, and their responses. */
const NAT = { hour: 0.045, gigabyte: 0.045, gigabytesPerRun: 50e-6 }

/** What a million synchronous model runs cost, by how many there are a month, on functions and on managed instances. */
export async function instanceRows(): Promise<Row[]> {
  const bill = toBill(await usageOf('sync model', 100, UNDER_LOAD))
  const others = totalOf(bill) - bill.Lambda
  const pricesOf = (millions: number) => {
    const runs = millions * 1e6
    const open = ((runs * MODEL_RUN_SECONDS) / (HOURS * 3600)) * PEAK
    const instances = Math.max(MIN_INSTANCES, Math.ceil(open / INSTANCE.concurrency))
    const onInstances = (instances * INSTANCE.hour * HOURS) / runs + REQUEST
    const nat = (NAT.hour * HOURS) / runs + NAT.gigabyte * NAT.gigabytesPerRun
    return {
      'functions: Lambda': bill.Lambda,
      'functions: total': totalOf(bill),
      'instances: Lambda': onInstances,
      'instances: total': onInstances + others,
      'a NAT gateway, in addition': nat,
    }
  }
  const columns = MILLIONS_A_MONTH.map(pricesOf)
  return Object.keys(columns[0] ?? {}).map((item) => ({
    'US$ per million sync model runs': item,
    ...Object.fromEntries(
      columns.map((prices, index) => [
        `${MILLIONS_A_MONTH[index]} million a month`,
        perMillion(prices[item as keyof typeof prices]),
      ]),
    ),
  }))
}
