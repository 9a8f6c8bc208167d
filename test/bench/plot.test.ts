import { describe, expect, it } from 'vitest'
import { barChart } from '../../bench/bar-chart.ts'
import { plot } from '../../bench/plot.ts'
import { reportOf } from '../../bench/report.ts'
import { spreadOf } from '../../bench/statistics.ts'

const bar = (label: string, median: number) => ({ label, note: '', isOurs: true, ...spreadOf([median]) })

describe('barChart', () => {
  it('draws lengths in proportion', () => {
    const svg = barChart({ title: 'Title', bars: [bar('one', 10), bar('half', 5)] }, 0)
    const [one = 0, half = 0] = [...svg.matchAll(/<rect[^>]* width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    )
    expect(one).toBeGreaterThan(100)
    expect(half).toBeCloseTo(one / 2, 0)
  })

  it('writes every text so that XML can hold it', () => {
    expect(barChart({ title: 'a < b & "c"', bars: [bar('x', 1)] }, 0)).toContain(
      'a &lt; b &amp; &quot;c&quot;',
    )
  })
})

describe('plot', () => {
  const part = { letter: 'a', title: 'overhead', run: () => Promise.reject() }
  const names = ['sync', 'cached', 'async', 'floor']
  const figures = Object.fromEntries([
    ...names.flatMap((name) => [
      [`${name} runs/s at 16`, spreadOf([100, 200])],
      [`${name} p50 ms at 1`, spreadOf([1, 2])],
    ]),
    ['sync p50 / floor at 1', spreadOf([1])],
    ['sync runs/s / floor at 16', spreadOf([1])],
    ['sync runs/s / record floor at 16', spreadOf([0.05])],
    ['floor runs/s / record floor at 16', spreadOf([0.06])],
    ['cached p50 / sync at 1', spreadOf([1])],
  ])
  const settings = { quick: false, startedAt: new Date('2026-11-21T12:00:00Z') }

  it('says on what it was measured, and from where the peers’ figures are', () => {
    const svg = plot(reportOf([{ part, finding: { tables: [], figures } }], settings))
    expect(svg).toContain(`Node ${process.version}`)
    expect(svg).toContain('2026-11-21')
    expect(svg).toContain('measured elsewhere')
    expect(svg).not.toContain('NaN')
  })

  it('stands the service where it belongs among its peers', () => {
    const svg = plot(reportOf([{ part, finding: { tables: [], figures } }], settings)) ?? ''
    const last = svg.slice(svg.indexOf('SQLite only'))
    expect(last.indexOf('Restate')).toBeLessThan(last.indexOf('Service, sync'))
    expect(last.indexOf('Service, sync')).toBeLessThan(last.indexOf('Bare SDK floor'))
  })

  it('is none without the runs that it shows', () => {
    expect(plot(reportOf([], settings))).toBeNull()
  })
})
