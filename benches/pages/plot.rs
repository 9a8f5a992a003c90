//! Pictures as SVG, in colours that a light and a dark page can show; what is black in them takes the colour of the page's text.

use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentedCoord;
use plotters::coord::types::{RangedCoordf64, RangedCoordusize};
use plotters::prelude::*;
use std::fmt::Write;

/// Colours of series, in order.
const COLOURS: [RGBColor; 10] = [
    RGBColor(228, 87, 46),
    RGBColor(76, 155, 232),
    RGBColor(58, 167, 109),
    RGBColor(176, 124, 216),
    RGBColor(201, 162, 39),
    RGBColor(214, 93, 177),
    RGBColor(0, 166, 166),
    RGBColor(140, 140, 140),
    RGBColor(160, 110, 70),
    RGBColor(120, 140, 220),
];

const GRID: RGBColor = RGBColor(140, 140, 140);

const WIDTH: u32 = 760;

/// Points of one kind.
pub(crate) struct Series {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Where they are; of a picture with rows, the second number is that of the row.
    pub(crate) points: Vec<(f64, f64)>,
    /// Whether a line joins them.
    pub(crate) joined: bool,
}

/// An axis.
pub(crate) struct Axis {
    /// What it shows, with its unit.
    pub(crate) title: &'static str,
    /// From where to where.
    pub(crate) range: std::ops::Range<f64>,
    /// Whether equal ratios are equally far apart.
    pub(crate) logarithmic: bool,
    /// The text at a value.
    pub(crate) label: fn(f64) -> String,
}

/// A line of HTML that tells the series apart.
pub(crate) fn legend(series: &[Series]) -> String {
    let mut out = String::new();
    for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let RGBColor(red, green, blue) = colour;
        let _ =
            write!(out, "<span style=\"color: rgb({red}, {green}, {blue})\">●</span> {}&emsp;", series.name);
    }
    out
}

/// Lines and points over two numbers.
pub(crate) fn lines(x: &Axis, y: &Axis, series: &[Series]) -> String {
    drawn(320, |root| {
        // An axis of logarithms is one of the exponents.
        let scaled = |axis: &Axis, value: f64| if axis.logarithmic { value.log2() } else { value };
        let range = |axis: &Axis| scaled(axis, axis.range.start)..scaled(axis, axis.range.end);
        let label =
            |axis: &Axis, value: f64| (axis.label)(if axis.logarithmic { value.exp2() } else { value });
        let mut chart = ChartBuilder::on(root)
            .margin(10)
            .x_label_area_size(45)
            .y_label_area_size(60)
            .build_cartesian_2d(range(x), range(y))?;
        chart
            .configure_mesh()
            .bold_line_style(GRID.mix(0.35))
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .x_labels(10)
            .y_labels(8)
            .x_label_formatter(&|value: &f64| label(x, *value))
            .y_label_formatter(&|value: &f64| label(y, *value))
            .x_desc(x.title)
            .y_desc(y.title)
            .label_style(("sans-serif", 15))
            .draw()?;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let points: Vec<(f64, f64)> =
                series.points.iter().map(|&(a, b)| (scaled(x, a), scaled(y, b))).collect();
            if series.joined {
                chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
            }
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
        }
        Ok(())
    })
}

/// Points in rows with names, the first row at the top.
pub(crate) fn rows(x: &Axis, names: &[String], series: &[Series]) -> String {
    drawn(70 + 26 * names.len() as u32, |root| {
        let count = names.len();
        let mut chart: ChartContext<'_, _, Cartesian2d<RangedCoordf64, SegmentedCoord<RangedCoordusize>>> =
            ChartBuilder::on(root)
                .margin(10)
                .x_label_area_size(45)
                .y_label_area_size(320)
                .build_cartesian_2d(x.range.clone(), (0..count).into_segmented())?;
        let name = |segment: &SegmentValue<usize>| match segment {
            SegmentValue::CenterOf(row) | SegmentValue::Exact(row) => {
                count.checked_sub(row + 1).and_then(|row| names.get(row)).cloned().unwrap_or_default()
            }
            SegmentValue::Last => String::new(),
        };
        chart
            .configure_mesh()
            .bold_line_style(GRID.mix(0.35))
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .x_labels(12)
            .y_labels(count)
            .x_label_formatter(&|value: &f64| (x.label)(*value))
            .y_label_formatter(&name)
            .x_desc(x.title)
            .label_style(("sans-serif", 15))
            .draw()?;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let places = series.points.iter().map(|&(value, row)| {
                let row = count - 1 - row as usize;
                Circle::new((value, SegmentValue::CenterOf(row)), 5, colour.filled())
            });
            chart.draw_series(places)?;
        }
        Ok(())
    })
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The text of a picture of some height.
fn drawn(height: u32, draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn) -> String {
    let mut text = String::new();
    let root = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    draw(&root).expect("a picture in memory");
    root.present().expect("a picture in memory");
    drop(root);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // Without a size of its own a picture is as wide as the page.
    let size = format!(" width=\"{WIDTH}\" height=\"{height}\"");
    lines.join("\n").replacen(&size, "", 1).replace("#000000", "currentColor") + "\n"
}
