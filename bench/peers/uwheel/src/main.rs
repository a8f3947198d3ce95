//! Runs one experiment with uwheel on arrays in files, and prints one line of JSON.
//!
//! `uwheel-peer EXPERIMENT name=value ...`, where the experiment is one of
//!
//! - `ingest`: insert all events in their order; after every `every` of them the watermark advances. That is done once
//!   untimed, and then with one new wheel after the other until `lasting` nanoseconds have passed, at least once.
//! - `windows`: the same with one sliding window of `range` and `slide`; `out` gets (end, value) of each window.
//! - `insert_latency`: the same as `windows`, each call timed on its own; `out` and `advances` get nanoseconds.
//! - `ranges`: sums over the ranges in `queries`; `out` gets the answers, `latencies` nanoseconds, `combines` numbers.
//!   All ranges are asked again and again until `lasting` nanoseconds have passed, at least once.
//! - `group`: `repeat` times the sums over each `interval` of the range from `from` to `to`; `out` gets (start, value).
//!
//! All of them read `times` and `values`. Times in files and `start`, `until`, `from` and `to` are microseconds since
//! 1970; `delay`, `range`, `slide` and `interval` are seconds. Files are arrays of 8 bytes per item, little-endian.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Instant;

use uwheel::aggregator::sum::{F64SumAggregator, U64SumAggregator};
use uwheel::aggregator::{CombineSimdFn, InverseFn};
use uwheel::wheels::read::aggregation::conf::WheelMode;
use uwheel::{
    Aggregator, Conf, Duration, Entry, HawConf, RetentionPolicy, RwWheel, WheelRange, Window,
    WindowAggregate,
};

type Failure = Box<dyn Error>;
type Outcome<T> = Result<T, Failure>;

/// What is summed: eight bytes in a file.
trait Number: Copy + Display + PartialEq {
    /// Stands for a range that the wheel cannot answer.
    const MISSING: Self;
    fn read(bytes: [u8; 8]) -> Self;
    fn bytes(self) -> [u8; 8];
}

impl Number for f64 {
    const MISSING: Self = f64::NAN;
    fn read(bytes: [u8; 8]) -> Self {
        Self::from_le_bytes(bytes)
    }
    fn bytes(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

impl Number for u64 {
    const MISSING: Self = u64::MAX;
    fn read(bytes: [u8; 8]) -> Self {
        Self::from_le_bytes(bytes)
    }
    fn bytes(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

/// An aggregator with one type throughout, as a sum has.
trait Sum: Aggregator<Input = Self::Of, PartialAggregate = Self::Of, Aggregate = Self::Of> {
    type Of: Number + std::fmt::Debug + Send;
}

impl Sum for F64SumAggregator {
    type Of = f64;
}

impl Sum for U64SumAggregator {
    type Of = u64;
}

/// uwheel's own SIMD needs a nightly compiler, but its optimizer asks any aggregator whether it has a way to combine a
/// slice. This is one that a stable compiler makes into vector instructions.
macro_rules! by_slices {
    ($name:ident, $number:ty, $plain:ty, $sum:expr) => {
        #[derive(Default, Debug, Clone, Copy)]
        struct $name;

        impl Aggregator for $name {
            const IDENTITY: $number = 0 as $number;
            type Input = $number;
            type MutablePartialAggregate = $number;
            type PartialAggregate = $number;
            type Aggregate = $number;

            fn lift(input: $number) -> $number {
                input
            }
            fn combine_mutable(sum: &mut $number, input: $number) {
                *sum += input;
            }
            fn freeze(sum: $number) -> $number {
                sum
            }
            fn combine(a: $number, b: $number) -> $number {
                a + b
            }
            fn lower(sum: $number) -> $number {
                sum
            }
            fn combine_inverse() -> Option<InverseFn<$number>> {
                <$plain>::combine_inverse()
            }
            fn combine_simd() -> Option<CombineSimdFn<$number>> {
                Some($sum)
            }
        }

        impl Sum for $name {
            type Of = $number;
        }
    };
}

by_slices!(F64Slices, f64, F64SumAggregator, sum_in_lanes);
by_slices!(U64Slices, u64, U64SumAggregator, |slice| slice.iter().sum());

/// Sums of floats keep their order, so that only independent ones go into one vector.
fn sum_in_lanes(slice: &[f64]) -> f64 {
    let mut lanes = [0.0; 32];
    let chunks = slice.chunks_exact(lanes.len());
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

struct Options(HashMap<String, String>);

impl Options {
    fn new(arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let pairs = arguments.map(|argument| match argument.split_once('=') {
            Some((name, value)) => Ok((name.to_string(), value.to_string())),
            None => Err(Failure::from(format!("{argument}: not name=value"))),
        });
        Ok(Self(pairs.collect::<Outcome<_>>()?))
    }

    fn text(&self, name: &str) -> Outcome<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| format!("{name} is missing").into())
    }

    fn get<T: FromStr>(&self, name: &str) -> Outcome<T>
    where
        T::Err: Error + 'static,
    {
        self.text(name)?
            .parse()
            .map_err(|error| format!("{name}: {error}").into())
    }

    fn get_or<T: FromStr>(&self, name: &str, default: T) -> Outcome<T>
    where
        T::Err: Error + 'static,
    {
        if self.0.contains_key(name) {
            self.get(name)
        } else {
            Ok(default)
        }
    }

    /// Milliseconds, of an option in microseconds.
    fn moment(&self, name: &str) -> Outcome<u64> {
        milliseconds(self.get(name)?)
    }

    fn seconds(&self, name: &str) -> Outcome<Duration> {
        Ok(Duration::seconds(self.get(name)?))
    }

    fn read<T>(&self, name: &str, item: impl Fn([u8; 8]) -> T) -> Outcome<Vec<T>> {
        let path = self.text(name)?;
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        Ok(bytes
            .chunks_exact(8)
            .map(|chunk| item(chunk.try_into().unwrap()))
            .collect())
    }

    fn write(&self, name: &str, items: impl Iterator<Item = [u8; 8]>) -> Outcome<()> {
        let path = self.text(name)?;
        let bytes: Vec<u8> = items.flatten().collect();
        fs::write(path, bytes).map_err(|error| format!("{path}: {error}").into())
    }
}

fn milliseconds(microseconds: i64) -> Outcome<u64> {
    u64::try_from(microseconds.div_euclid(1000))
        .map_err(|_| format!("{microseconds} is before 1970").into())
}

fn moments(options: &Options, name: &str) -> Outcome<Vec<u64>> {
    options
        .read(name, i64::from_le_bytes)?
        .into_iter()
        .map(milliseconds)
        .collect()
}

/// The events, and how they come.
struct Stream<T: std::fmt::Debug> {
    entries: Vec<Entry<T>>,
    start: u64,
    until: u64,
    every: usize,
    delay: u64,
}

impl<T: Number + std::fmt::Debug> Stream<T> {
    fn new(options: &Options) -> Outcome<Self> {
        let times = moments(options, "times")?;
        let values = options.read("values", T::read)?;
        if times.len() != values.len() {
            return Err(format!("{} times, but {} values", times.len(), values.len()).into());
        }
        let stream = Self {
            entries: values
                .into_iter()
                .zip(times)
                .map(|(value, time)| Entry::new(value, time))
                .collect(),
            start: options.moment("start")?,
            until: milliseconds(options.get_or("until", 0)?)?,
            every: options.get_or("every", 100)?,
            delay: options.get_or("delay", 2u64)? * 1000,
        };
        if stream.every == 0 {
            return Err("every has to be 1 or more".into());
        }
        Ok(stream)
    }

    fn watermark(&self, greatest: u64) -> u64 {
        greatest.saturating_sub(self.delay) / 1000 * 1000
    }

    /// All events into a wheel; the time of the wheel's calls alone is what an experiment measures.
    fn fill<A: Sum<Of = T>>(&self, wheel: &mut RwWheel<A>, windows: &mut Vec<WindowAggregate<T>>) {
        let mut greatest = self.start;
        for chunk in self.entries.chunks(self.every) {
            for entry in chunk {
                greatest = greatest.max(entry.timestamp);
                wheel.insert(*entry);
            }
            windows.extend(wheel.advance_to(self.watermark(greatest)));
        }
        if self.until > 0 {
            windows.extend(wheel.advance_to(self.until));
        }
    }

    /// How many events the wheel drops, as it does not count them.
    fn late(&self) -> usize {
        let (mut late, mut greatest, mut watermark) = (0, self.start, self.start);
        for chunk in self.entries.chunks(self.every) {
            for entry in chunk {
                greatest = greatest.max(entry.timestamp);
                late += usize::from(entry.timestamp < watermark);
            }
            watermark = watermark.max(self.watermark(greatest));
        }
        late
    }
}

fn wheel<A: Sum>(options: &Options, start: u64) -> Outcome<RwWheel<A>> {
    let mut levels = HawConf::default().with_watermark(start);
    if options.get_or("keep", 0)? != 0 {
        levels = levels.with_retention_policy(RetentionPolicy::Keep);
    }
    if A::combine_simd().is_some() {
        // In the other mode each tick moves all slots to have them in one piece.
        levels = levels.with_mode(WheelMode::Index);
    }
    let ahead =
        NonZeroUsize::new(options.get_or("ahead", 64)?).ok_or("ahead has to be 1 or more")?;
    Ok(RwWheel::with_conf(
        Conf::default()
            .with_write_ahead(ahead)
            .with_haw_conf(levels),
    ))
}

/// A wheel with all events, ready for questions.
fn index<A: Sum>(options: &Options) -> Outcome<(RwWheel<A>, usize)> {
    let stream = Stream::<A::Of>::new(options)?;
    let mut wheel = wheel::<A>(options, stream.start)?;
    stream.fill(&mut wheel, &mut Vec::new());
    // Slots in one piece come first: the prefix sums are those of the first piece alone.
    wheel.read().to_simd_wheels();
    match options.text("mode")? {
        "prefix" => wheel.read().to_prefix_wheels(),
        "hints" => wheel.read().set_optimizer_hints(true),
        _ => (),
    }
    Ok((wheel, stream.late()))
}

/// The rest of the line of JSON: what there is to say of any wheel.
fn state<A: Sum>(wheel: &RwWheel<A>, late: usize) -> String {
    let landmark = wheel
        .read()
        .landmark()
        .map_or("null".to_string(), |sum| sum.to_string());
    let (watermark, size) = (wheel.watermark() * 1000, wheel.size_bytes());
    format!(
        "\"late\": {late}, \"landmark\": {landmark}, \"watermark\": {watermark}, \"size\": {size}"
    )
}

fn window(options: &Options) -> Outcome<Window> {
    Ok(Window::sliding(
        options.seconds("range")?,
        options.seconds("slide")?,
    ))
}

fn ingest<A: Sum>(options: &Options, windowed: bool) -> Outcome<String> {
    let stream = Stream::<A::Of>::new(options)?;
    let greatest = stream.entries.iter().map(|entry| entry.timestamp).max();
    let span = greatest
        .unwrap_or(stream.start)
        .max(stream.until)
        .saturating_sub(stream.start);
    let room = if windowed {
        (span / (options.get::<u64>("slide")? * 1000)) as usize + 1
    } else {
        0
    };
    let lasting = options.get_or("lasting", 0u128)?;
    let (mut passes, mut taken) = (0, 0);
    loop {
        let mut wheel = wheel::<A>(options, stream.start)?;
        let mut windows = Vec::with_capacity(room);
        if windowed {
            wheel.window(window(options)?);
        }
        let begun = Instant::now();
        stream.fill(&mut wheel, &mut windows);
        let ns = begun.elapsed().as_nanos();
        passes += 1;
        if passes == 1 {
            continue; // finds the caches cold
        }
        taken += ns;
        if taken < lasting {
            continue;
        }
        if windowed {
            let pairs = windows
                .iter()
                .flat_map(|w| [(w.window_end_ms * 1000).to_le_bytes(), w.aggregate.bytes()]);
            options.write("out", pairs)?;
        }
        return Ok(format!(
            "\"ns\": {}, \"windows\": {}, {}",
            taken / (passes - 1),
            windows.len(),
            state(&wheel, stream.late())
        ));
    }
}

fn insert_latency<A: Sum>(options: &Options) -> Outcome<String> {
    let stream = Stream::<A::Of>::new(options)?;
    let mut wheel = wheel::<A>(options, stream.start)?;
    wheel.window(window(options)?);
    let mut inserts: Vec<u64> = Vec::with_capacity(stream.entries.len());
    let mut advances: Vec<u64> = Vec::with_capacity(stream.entries.len() / stream.every + 1);
    let mut greatest = stream.start;
    for chunk in stream.entries.chunks(stream.every) {
        for entry in chunk {
            greatest = greatest.max(entry.timestamp);
            let begun = Instant::now();
            wheel.insert(*entry);
            inserts.push(begun.elapsed().as_nanos() as u64);
        }
        let to = stream.watermark(greatest);
        let begun = Instant::now();
        black_box(wheel.advance_to(to));
        advances.push(begun.elapsed().as_nanos() as u64);
    }
    options.write("out", inserts.iter().map(|ns| ns.to_le_bytes()))?;
    options.write("advances", advances.iter().map(|ns| ns.to_le_bytes()))?;
    Ok(format!(
        "\"clock_ns\": {}, {}",
        clock(),
        state(&wheel, stream.late())
    ))
}

/// What a measurement of nothing gives: the median of many.
fn clock() -> u128 {
    let mut found: Vec<u128> = (0..10_001)
        .map(|_| Instant::now().elapsed().as_nanos())
        .collect();
    found.sort_unstable();
    found[found.len() / 2]
}

/// The nanoseconds of one pass, of as many as take so long together, behind one that finds the caches cold.
fn each_pass(lasting: u128, mut pass: impl FnMut()) -> u128 {
    pass();
    let begun = Instant::now();
    for passes in 1.. {
        pass();
        let taken = begun.elapsed().as_nanos();
        if taken >= lasting {
            return taken / passes;
        }
    }
    unreachable!()
}

fn ranges<A: Sum>(options: &Options) -> Outcome<String> {
    let (wheel, late) = index::<A>(options)?;
    let reader = wheel.read();
    let times = moments(options, "queries")?;
    let range = |pair: &[u64]| WheelRange::new_unchecked(pair[0], pair[1]);
    let queries: Vec<WheelRange> = times.chunks_exact(2).map(range).collect();

    let combines: Vec<u64> = queries
        .iter()
        .map(|query| reader.as_ref().analyze_combine_range(*query).1 as u64)
        .collect();
    let mut answers = vec![A::Of::MISSING; queries.len()];
    let lasting: u128 = options.get_or("lasting", 0)?;
    let ns = each_pass(lasting, || {
        for (answer, query) in answers.iter_mut().zip(black_box(&queries)) {
            if let Some(sum) = reader.combine_range_and_lower(*query) {
                *answer = sum;
            }
        }
        black_box(&answers);
    });
    let whole_ns = each_pass(lasting, || {
        for (answer, pair) in answers.iter_mut().zip(black_box(&times).chunks_exact(2)) {
            if let Some(sum) = reader.combine_range_and_lower(range(pair)) {
                *answer = sum;
            }
        }
        black_box(&answers);
    });

    let mut latencies: Vec<u64> = Vec::with_capacity(queries.len());
    for query in &queries {
        let begun = Instant::now();
        black_box(reader.combine_range_and_lower(*query));
        latencies.push(begun.elapsed().as_nanos() as u64);
    }
    let missing = queries
        .iter()
        .filter(|query| reader.combine_range(**query).is_none())
        .count();
    options.write("out", answers.into_iter().map(Number::bytes))?;
    options.write("latencies", latencies.iter().map(|ns| ns.to_le_bytes()))?;
    options.write(
        "combines",
        combines.iter().map(|number| number.to_le_bytes()),
    )?;
    let clock_ns = clock();
    Ok(format!(
        "\"ns\": {ns}, \"whole_ns\": {whole_ns}, \"clock_ns\": {clock_ns}, \"missing\": {missing}, {}",
        state(&wheel, late)
    ))
}

fn group<A: Sum>(options: &Options) -> Outcome<String> {
    let (wheel, late) = index::<A>(options)?;
    let range = WheelRange::new_unchecked(options.moment("from")?, options.moment("to")?);
    let interval = options.seconds("interval")?;
    let repeat: u64 = options.get_or("repeat", 1)?;
    let groups = wheel.read().group_by(range, interval).unwrap_or_default();
    let begun = Instant::now();
    for _ in 0..repeat {
        black_box(wheel.read().group_by(black_box(range), interval));
    }
    let ns = begun.elapsed().as_nanos();
    options.write(
        "out",
        groups
            .iter()
            .flat_map(|(time, sum)| [(time * 1000).to_le_bytes(), sum.bytes()]),
    )?;
    Ok(format!(
        "\"ns\": {ns}, \"groups\": {}, {}",
        groups.len(),
        state(&wheel, late)
    ))
}

fn experiment<Plain: Sum, Slices: Sum>(name: &str, options: &Options) -> Outcome<String> {
    let hints = options.0.get("mode").is_some_and(|mode| mode == "hints");
    match name {
        "ingest" => ingest::<Plain>(options, false),
        "windows" => ingest::<Plain>(options, true),
        "insert_latency" => insert_latency::<Plain>(options),
        "ranges" if hints => ranges::<Slices>(options),
        "ranges" => ranges::<Plain>(options),
        "group" if hints => group::<Slices>(options),
        "group" => group::<Plain>(options),
        _ => Err(format!("there is no experiment {name}").into()),
    }
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which experiment?")?;
    let options = Options::new(arguments)?;
    let found = match options.text("kind")? {
        "f64" => experiment::<F64SumAggregator, F64Slices>(&name, &options)?,
        "u64" => experiment::<U64SumAggregator, U64Slices>(&name, &options)?,
        kind => return Err(format!("values are f64 or u64, not {kind}").into()),
    };
    println!("{{{found}}}");
    Ok(())
}
