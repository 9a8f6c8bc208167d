import './bar-chart.css'
import { toVisible } from './hidden-characters.ts'
import { ItemTable } from './item-table.tsx'

export type Series = { name: string; color: 1 | 2 | 3 | 4 }

/** One bar: a value for each series, from the bottom up. `href`: where it leads. `mark`: what happened then. */
type ChartBar = { label: string; values: number[]; href?: string; mark?: string | undefined }

type Props = {
  label: string
  /** What the bars stand for, such as "Time": the head of their column in the table. */
  axis: string
  series: Series[]
  bars: ChartBar[]
  /** Below the bars, at equal distances. Default: the labels of the first and the last one. */
  ticks?: (string | undefined)[]
  /** The value of the highest bar that there can be. Default: that of the highest one. */
  max?: number
  format: (value: number) => string
}

const HEIGHT = 100

/** Stacked bars. Everything that they show, and their links, are also in a table below them. */
export function BarChart({ label, axis, series, bars, format, ...options }: Props) {
  const ticks = options.ticks ?? [bars[0]?.label, bars.at(-1)?.label]
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const max = options.max ?? Math.max(...totals, 0)
  return (
    <figure class="chart" aria-label={label}>
      <div class="actions chart-head">
        <span class="actions chart-legend">
          {series.length > 1 &&
            series.map(({ name, color }) => (
              <span key={name}>
                <i style={{ background: `var(--series-${color})` }} />
                {name}
              </span>
            ))}
          {bars.flatMap(({ mark }) => (mark === undefined ? [] : <span key={mark}>┆ {mark}</span>))}
        </span>
        <span>max {format(max)}</span>
      </div>
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map((bar, index) => (
          <StackedBar key={index} bar={bar} x={index} max={max} series={series} format={format} />
        ))}
      </svg>
      <div class="chart-axis" aria-hidden="true">
        {ticks.map((tick, index) => (
          <span key={index}>{tick}</span>
        ))}
      </div>
      <details>
        <summary class="muted">Show as a table</summary>
        <ItemTable
          caption={label}
          items={bars}
          keyOf={({ label, href }) => href ?? label}
          columns={{
            [axis]: ({ label, href, mark }) => (
              <>
                {href === undefined ? label : <a href={href}>{label}</a>}
                {mark !== undefined && ` (${mark})`}
              </>
            ),
            ...Object.fromEntries(
              series.map(({ name }, index) => [
                name,
                { numeric: ({ values }: ChartBar) => format(values[index] ?? 0) },
              ]),
            ),
          }}
        />
      </details>
    </figure>
  )
}

type BarProps = Pick<Props, 'series' | 'format'> & { bar: ChartBar; x: number; max: number }

function StackedBar({ bar, x, max, series, format }: BarProps) {
  let top = HEIGHT
  const texts = series.map(({ name }, index) => `${name}: ${format(bar.values[index] ?? 0)}`)
  const Element = bar.href === undefined ? 'g' : 'a'
  return (
    // The table has the same link for keyboards.
    <Element {...(bar.href !== undefined && { href: bar.href, tabindex: -1 })}>
      <title>{toVisible([bar.label, ...texts, bar.mark ?? ''].join('\n'))}</title>
      {/* The whole column shows the title on hover. */}
      <rect x={x} y={0} width={1} height={HEIGHT} fill="transparent" />
      {series.map(({ name, color }, index) => {
        const height = max === 0 ? 0 : (HEIGHT * (bar.values[index] ?? 0)) / max
        top -= height
        return (
          <rect
            key={name}
            fill={`var(--series-${color})`}
            x={x + 0.08}
            y={top}
            width={0.84}
            height={height}
          />
        )
      })}
      {bar.mark !== undefined && <line class="chart-mark" x1={x} x2={x} y1={0} y2={HEIGHT} />}
    </Element>
  )
}
